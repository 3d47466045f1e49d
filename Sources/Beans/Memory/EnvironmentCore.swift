public import Synchronization

/// The state of one environment. Properties that are not atomic are never written; comments name those that are written
/// under the lock.
///
/// Objects have no class here: `Environment+State` has the properties with their classes, and defines the meaning of
/// the words.
@usableFromInline
struct EnvironmentCore: ~Copyable, Sendable {
  /// The environment further out; retained.
  let outer: ObjectReference?
  /// The plan; nil until startup. The extras of this environment, or of one further out, retain it.
  let planReference: Atomic<ObjectReference?>
  /// The slots. Changed once, before other threads read them.
  let slotsReference: Atomic<Slots?>
  /// The lifecycle; see `Lifecycle`. Written under the lock.
  @usableFromInline let lifecycleWord: Atomic<UInt64>
  let lock = SpinLock()
  /// Whether a thread waits for a bean that this environment is building.
  let isAwaited = Atomic<Bool>(false)
  /// Whether the release is postponed until no thread uses a bean, or until the loop runs it. The thread that resets
  /// this flag performs the release.
  let isPostponed = Atomic<Bool>(false)
  // The neighbours among the parent's children. Guarded by the parent's lock. See `ChildRegistry`.
  let previous = Atomic<BackLink>(.none)
  let next = Atomic<ObjectReference?>(nil)
  /// The state that most children never need; retained.
  let extrasReference: Atomic<ObjectReference?>
  /// The call that created the environment, or opened the child.
  let place: CallPlace

  /// Creates the core. Consumes the references to `parent` and `extras`.
  @inline(__always)
  init(
    plan: ObjectReference?, parent: ObjectReference?, lifecycle: UInt64, slots: Slots?, extras: ObjectReference?,
    place: CallPlace
  ) {
    outer = parent
    planReference = Atomic(plan)
    slotsReference = Atomic(slots)
    lifecycleWord = Atomic(lifecycle)
    extrasReference = Atomic(extras)
    self.place = place
  }

  @inline(__always)
  var slots: Slots { slotsReference.load(ordering: .relaxed).known }

  /// Sets the slots, before other threads can reach the environment.
  @inline(__always)
  func set(_ slots: Slots) { slotsReference.store(slots, ordering: .relaxed) }

  deinit {
    extrasReference.load(ordering: .relaxed)?.release()
    outer?.release()
  }
}
