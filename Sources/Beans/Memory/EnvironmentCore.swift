public import Synchronization

/// The state of one environment, in words. What is not atomic is never written; what is written under the lock says so.
///
/// What the words mean is said where they are read: see `Environment+State`.
@usableFromInline
struct EnvironmentCore: ~Copyable, Sendable {
  /// The address of the environment further out, or 0; retained.
  let parentWord: UInt
  /// The address of the plan; 0 until startup.
  let planWord: Atomic<UInt>
  /// Where slots begin; changed once, before others look.
  let slotsWord: Atomic<UInt>
  /// See `Lifecycle`; written under the lock.
  @usableFromInline let lifecycleWord: Atomic<UInt32>
  let lock = SpinLock()
  /// Whether some thread waits for a bean that is built here.
  let isAwaited = Atomic<Bool>(false)
  /// See `EnvironmentCore.Kind`.
  let kindByte: Atomic<UInt8>
  /// Whether the release waits for threads that use a bean, or for a loop: whoever takes it back releases.
  let isPostponed = Atomic<Bool>(false)
  /// The address of the innermost of the builds under way, or 0; under the lock.
  let buildsWord = Atomic<UInt>(0)
  // Neighbours among the parent's children, or the number of a list; under the parent's lock. See `ChildRegistry`.
  let previous = Atomic<UInt>(0)
  let next = Atomic<UInt>(0)
  /// The address of what most children never need, or 0; retained.
  let extrasWord: Atomic<UInt>

  /// Takes over the references to `parent` and `extras`.
  @inline(__always)
  init(plan: UInt, parent: UInt, lifecycle: UInt32, kind: UInt8, slots: Slots, extras: UInt) {
    parentWord = parent
    planWord = Atomic(plan)
    slotsWord = Atomic(slots.address)
    lifecycleWord = Atomic(lifecycle)
    kindByte = Atomic(kind)
    extrasWord = Atomic(extras)
  }

  /// The bit of `kindByte` that says that the plan is retained.
  static var keepsPlan: UInt8 { 1 }

  @inline(__always)
  var slots: Slots { Slots(address: slotsWord.load(ordering: .relaxed)) }

  deinit {
    Unretained<AnyObject>(address: extrasWord.load(ordering: .relaxed))?.release()
    if kindByte.load(ordering: .relaxed) & Self.keepsPlan != 0 {
      Unretained<AnyObject>(address: planWord.load(ordering: .relaxed))?.release()
    }
    Unretained<AnyObject>(address: parentWord)?.release()
  }
}
