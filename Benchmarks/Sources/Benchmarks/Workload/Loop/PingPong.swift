import Dispatch
import Synchronization

/// Two threads that wake each other in turn. Each side is given as a way of handing it a closure.
final class PingPong: Sendable {
  typealias Execute = @Sendable (@escaping @Sendable () -> Void) -> Void

  private let here: Execute
  private let there: Execute
  private let left = Atomic(0)
  private let isDone = DispatchSemaphore(value: 0)

  init(_ here: @escaping Execute, _ there: @escaping Execute) {
    self.here = here
    self.there = there
  }

  /// So many wake-ups, half of them of each side.
  func run(_ wakeUps: Int) {
    left.store(wakeUps, ordering: .relaxed)
    there { self.answer(isThere: true) }
    isDone.wait()
  }

  private func answer(isThere: Bool) {
    if left.subtract(1, ordering: .relaxed).newValue <= 0 {
      isDone.signal()
    } else if isThere {
      here { self.answer(isThere: false) }
    } else {
      there { self.answer(isThere: true) }
    }
  }
}

/// Counts arrivals, and signals when all are there.
final class Arrivals: Sendable {
  private let left: Atomic<Int>
  private let isDone = DispatchSemaphore(value: 0)

  init(_ expected: Int) { left = Atomic(expected) }

  func note() {
    if left.subtract(1, ordering: .relaxed).newValue == 0 { isDone.signal() }
  }

  func wait() { isDone.wait() }

  var isComplete: Bool { left.load(ordering: .relaxed) <= 0 }
}
