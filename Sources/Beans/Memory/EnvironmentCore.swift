public import Synchronization

/// The state of one environment, in words. Properties that are not atomic are never written; comments name those that
/// are written under the lock.
///
/// The accessors in `Environment+State` define the meaning of the words.
@usableFromInline
struct EnvironmentCore: ~Copyable, Sendable {
  /// The address of the environment further out, or 0. Retained.
  let parentWord: UInt
  /// The address of the plan; 0 until startup.
  let planWord: Atomic<UInt>
  /// The address of the first slot. Changed once, before other threads read it.
  let slotsWord: Atomic<UInt>
  /// The lifecycle; see `Lifecycle`. Written under the lock.
  @usableFromInline let lifecycleWord: Atomic<UInt32>
  let lock = SpinLock()
  /// Whether a thread waits for a bean that this environment is building.
  let isAwaited = Atomic<Bool>(false)
  /// The kind; see `EnvironmentCore.Kind`.
  let kindByte: Atomic<UInt8>
  /// Whether the release is postponed until no thread uses a bean, or until the loop runs it. The thread that resets
  /// this flag performs the release.
  let isPostponed = Atomic<Bool>(false)
  /// The address of the innermost build in flight, or 0. Guarded by the lock.
  let buildsWord = Atomic<UInt>(0)
  // The neighbours among the parent's children, or the number of a list. Guarded by the parent's lock. See
  // `ChildRegistry`.
  let previous = Atomic<UInt>(0)
  let next = Atomic<UInt>(0)
  /// The address of the state that most children never need, or 0. Retained.
  let extrasWord: Atomic<UInt>

  /// Creates the core. Consumes the references to `parent` and `extras`.
  @inline(__always)
  init(plan: UInt, parent: UInt, lifecycle: UInt32, kind: UInt8, slots: Slots, extras: UInt) {
    parentWord = parent
    planWord = Atomic(plan)
    slotsWord = Atomic(slots.address)
    lifecycleWord = Atomic(lifecycle)
    kindByte = Atomic(kind)
    extrasWord = Atomic(extras)
  }

  /// The bit of `kindByte` that is set if the plan is retained.
  static var keepsPlan: UInt8 { 1 }

  @inline(__always)
  var slots: Slots { Slots(address: slotsWord.load(ordering: .relaxed)) }

  /// Sets the slots, before other threads can reach the environment.
  @inline(__always)
  func set(_ slots: Slots) { slotsWord.store(slots.address, ordering: .relaxed) }

  deinit {
    Unretained<AnyObject>(address: extrasWord.load(ordering: .relaxed))?.release()
    if kindByte.load(ordering: .relaxed) & Self.keepsPlan != 0 {
      Unretained<AnyObject>(address: planWord.load(ordering: .relaxed))?.release()
    }
    Unretained<AnyObject>(address: parentWord)?.release()
  }
}
