import BeansEventLoop
@_spi(BeansPackage) import BeansSupport
import Dispatch
import TestSupport
import Testing

@testable import Storefront

@Suite(.timeLimit(.minutes(20)))
struct WriterQueueTests {
  /// Who has had a turn, on the loop's thread or not.
  private final class Turns: Sendable {
    private let taken = Locked<[Int]>([])
    private let hasCome = DispatchSemaphore(value: 0)

    func take(_ number: Int) {
      taken.withLock { $0.append(number) }
      hasCome.signal()
    }

    /// Waits for one more, and returns all.
    func next() -> [Int] {
      hasCome.wait()
      return taken.withLock { $0 }
    }

    var all: [Int] { taken.withLock { $0 } }
  }

  @Test func servesInTheOrderOfArrival() throws {
    let (queue, turns) = (WriterQueue(capacity: 3), Turns())
    try EventLoop.withThread { loop in
      func enter(_ number: Int) -> Bool { queue.enter(on: loop) { turns.take(number) } }
      #expect(enter(1))
      #expect(turns.all == [1])
      for number in 2...4 { #expect(enter(number)) }
      #expect(!enter(5))
      #expect(turns.next() == [1])
      for last in 2...4 {
        queue.leave()
        #expect(turns.next() == Array(1...last))
      }
      queue.leave()
      #expect(enter(6))
      #expect(turns.next() == [1, 2, 3, 4, 6])
      queue.leave()
    }
  }

  @Test func nobodyOvertakesWhoHasBeenGivenTheTurn() throws {
    let (queue, turns) = (WriterQueue(), Turns())
    try EventLoop.withThread { loop in
      #expect(queue.enter(on: loop) { turns.take(1) })
      #expect(turns.next() == [1])
      #expect(queue.enter(on: loop) { turns.take(2) })
      // The loop does not come to it yet.
      let mayGoOn = Gate()
      loop.execute { try? mayGoOn.wait() }
      queue.leave()
      #expect(queue.enter(on: loop) { turns.take(3) })
      #expect(turns.all == [1])
      mayGoOn.open()
      #expect(turns.next() == [1, 2])
      queue.leave()
      #expect(turns.next() == [1, 2, 3])
      queue.leave()
    }
  }

  @Test func aLoopThatHasEndedKeepsNobodyWaiting() throws {
    let (queue, turns) = (WriterQueue(), Turns())
    try EventLoop.withThread { loop in
      let ended = try EventLoop()
      #expect(queue.enter(on: loop) { turns.take(1) })
      #expect(turns.next() == [1])
      #expect(queue.enter(on: ended) { turns.take(2) })
      #expect(queue.enter(on: loop) { turns.take(3) })
      try ended.close()
      queue.leave()
      #expect(turns.next() == [1, 3])
      queue.leave()
    }
  }

  @Test func whoWaitsAtTheEndIsLetGoOf() throws {
    let queue = WriterQueue()
    try EventLoop.withThread { loop in
      weak var kept: Turns?
      do {
        let turns = Turns()
        kept = turns
        #expect(queue.enter(on: loop) {})
        #expect(queue.enter(on: loop) { turns.take(1) })
      }
      #expect(kept != nil)
      queue.close()
      #expect(kept == nil)
      #expect(!queue.enter(on: loop) {})
      queue.leave()
    }
  }

  /// Each thread enters again as soon as it has left; nobody is inside together with another, and all are served.
  @Test func manyThreadsTakeTurns() throws {
    let queue = WriterQueue()
    let inside = Locked((now: 0, most: 0, turns: 0))
    try EventLoop.withThread { loop in
      onThreads(4) { _ in
        for _ in 0..<500 {
          let done = DispatchSemaphore(value: 0)
          let isIn = queue.enter(on: loop) {
            inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.turns + 1) }
            inside.withLock { $0.now -= 1 }
            queue.leave()
            done.signal()
          }
          #expect(isIn)
          done.wait()
        }
      }
    }
    #expect(inside.withLock { $0.most } == 1)
    #expect(inside.withLock { $0.turns } == 2_000)
  }
}
