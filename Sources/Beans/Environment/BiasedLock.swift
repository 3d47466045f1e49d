@_spi(BeansPackage) import BeansSupport
import CBeansRuntime
import Glibc
import Synchronization

/// A lock for what one thread does all the time and others hardly ever: it costs that one no locked instruction.
///
/// It belongs to the first thread that takes it. The owner only writes down that it is inside, then looks whether others
/// have ever come. The first one that comes raises a flag for good, has all threads run a memory barrier, and then knows
/// that the owner's note either can be read or will not be relied on, because the owner sees the flag. From then on
/// everybody swaps. Held for a few instructions each time, so who finds it taken spins. Not reentrant.
struct BiasedLock: ~Copyable {
  /// The number of the thread it belongs to, or 0.
  private let owner = Atomic<UInt32>(0)
  private let sharing: Atomic<UInt8>
  private let isOwnerInside = Atomic<Bool>(false)
  private let isTaken = Atomic<Bool>(false)

  /// What `sharing` goes through: others have come, and the owner knows.
  private static var alone: UInt8 { 0 }
  private static var announced: UInt8 { 1 }
  private static var shared: UInt8 { 2 }

  init() { sharing = Atomic(Environment.hasBarrier ? Self.alone : Self.shared) }

  @inline(__always)
  func withLock<R>(_ body: () -> R) -> R {
    let isOwners = enterAlone(UInt32(truncatingIfNeeded: beans_thread())) || !enterShared()
    defer {
      if isOwners {
        isOwnerInside.store(false, ordering: .releasing)
      } else {
        isTaken.store(false, ordering: .releasing)
      }
    }
    return body()
  }

  /// Whether the owner, and nobody else, is inside now.
  @inline(__always)
  private func enterAlone(_ me: UInt32) -> Bool {
    if owner.load(ordering: .relaxed) != me { return false }
    isOwnerInside.store(true, ordering: .relaxed)
    beans_compiler_fence()
    if sharing.load(ordering: .acquiring) == Self.alone { return true }
    isOwnerInside.store(false, ordering: .releasing)
    return false
  }

  /// False where the lock had no owner and has been entered by its new one.
  @inline(never)
  private func enterShared() -> Bool {
    let me = UInt32(truncatingIfNeeded: beans_thread())
    if owner.compareExchange(expected: 0, desired: me, ordering: .acquiringAndReleasing).exchanged, enterAlone(me) {
      return false
    }
    if sharing.load(ordering: .acquiring) != Self.shared { share() }
    // Written down before it saw the flag, or for a moment only.
    spin(while: isOwnerInside)
    while isTaken.exchange(true, ordering: .acquiring) { spin(while: isTaken) }
    return true
  }

  /// Lets others in from now on.
  private func share() {
    Self.announcing.withLock { _ in
      if sharing.load(ordering: .acquiring) == Self.shared { return }
      sharing.store(Self.announced, ordering: .sequentiallyConsistent)
      beans_barrier_on_all_threads()
      sharing.store(Self.shared, ordering: .releasing)
    }
  }

  private func spin(while flag: borrowing Atomic<Bool>) {
    var patience = 100
    while flag.load(ordering: .acquiring) {
      patience -= 1
      // Its holder may have been put off the processor.
      if patience < 0 { sched_yield() }
    }
  }

  /// Taken once for a lock that others come to.
  private static let announcing = Locked(0)
}
