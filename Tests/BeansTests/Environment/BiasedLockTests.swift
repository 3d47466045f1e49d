import TestSupport
import Synchronization
import Testing

@testable import Beans

/// One inside at a time, whoever owns the lock.
@Suite struct BiasedLockTests {
  /// What the lock guards: counted without atomics, so that a step taken at the same time as another is lost.
  private final class Guarded: @unchecked Sendable {  // `count` and `isInside` are used under the lock
    private let lock = BiasedLock()
    private var count = 0
    private var isInside = false
    private var wasMet = false

    func step() {
      lock.withLock {
        if isInside { wasMet = true }
        isInside = true
        count += 1
        isInside = false
      }
    }

    var result: (count: Int, wasMet: Bool) { lock.withLock { (count, wasMet) } }
  }

  @Test func theOwnerAlone() {
    let guarded = Guarded()
    for _ in 0..<1_000 { guarded.step() }
    #expect(guarded.result == (1_000, false))
  }

  @Test func othersAfterTheOwner() throws {
    let guarded = Guarded()
    guarded.step()
    _ = try onThreads(2) { _ in for _ in 0..<1_000 { guarded.step() } }
    for _ in 0..<10 { guarded.step() }
    #expect(guarded.result == (2_011, false))
  }

  @Test func theOwnerHasEnded() throws {
    let guarded = Guarded()
    _ = try onThreads(1) { _ in guarded.step() }
    _ = try onThreads(1) { _ in guarded.step() }
    guarded.step()
    #expect(guarded.result == (3, false))
  }

  /// The owner is inside as often as not when the first other comes.
  @Test(.timeLimit(.minutes(5))) func othersMeetTheOwner() throws {
    for round in 0..<300 {
      let guarded = Guarded()
      let isOwned = Atomic(false)
      _ = try onThreads(3) { number in
        if number == 0 {
          guarded.step()
          isOwned.store(true, ordering: .releasing)
        } else {
          while !isOwned.load(ordering: .acquiring) {}
          for _ in 0..<(round * number) {}
        }
        for _ in 0..<200 { guarded.step() }
      }
      #expect(guarded.result == (601, false))
    }
  }

  /// Nobody has owned it yet, and several want to.
  @Test(.timeLimit(.minutes(5))) func severalAtOnce() throws {
    for _ in 0..<300 {
      let guarded = Guarded()
      _ = try onThreads(3) { _ in for _ in 0..<50 { guarded.step() } }
      #expect(guarded.result == (150, false))
    }
  }
}
