import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Beans

@Suite struct SpinLockTests {
  /// Numbers that are not atomic.
  private final class Guarded: @unchecked Sendable {  // under the lock
    let lock = SpinLock()
    private var numbers = (0, 0)

    func increment() {
      lock.withLock {
        numbers.0 += 1
        numbers.1 += 1
      }
    }

    var values: (Int, Int) { lock.withLock { numbers } }
  }

  @Test func additionsUnderTheLockAreNotLost() throws {
    let guarded = Guarded()
    let isTorn = try onThreads(4) { number in
      var isTorn = false
      for _ in 0..<20_000 {
        guarded.increment()
        if number == 0 {
          let (first, second) = guarded.values
          isTorn = isTorn || first != second
        }
      }
      return isTorn
    }
    #expect(!isTorn.contains(true))
    #expect(guarded.values == (80_000, 80_000))
  }

  private final class Shared: Sendable {
    let lock = SpinLock()
    let inside = Atomic(0)
  }

  /// The test uses more threads than processors: a holder may be descheduled while others spin.
  @Test func oneThreadHoldsTheLock() throws {
    let shared = Shared()
    let most = try onThreads(16) { _ in
      var most = 0
      for round in 0..<2_000 {
        shared.lock.withLock {
          most = max(most, shared.inside.add(1, ordering: .sequentiallyConsistent).newValue)
          if round % 100 == 0 { sched_yield() }
          shared.inside.subtract(1, ordering: .sequentiallyConsistent)
        }
      }
      return most
    }
    #expect(most == Array(repeating: 1, count: 16))
  }

  private struct Token: ~Copyable { let number: Int }

  @Test func withLockReturnsTheResultOfItsBody() {
    let lock = SpinLock()
    let number = lock.withLock { 7 }
    let token = lock.withLock { Token(number: 8) }
    #expect(number == 7)
    #expect(token.number == 8)
  }
}
