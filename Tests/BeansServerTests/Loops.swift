import BeansEventLoop
import TestSupport
import Testing

/// Runs loops on threads of their own around `body`. Closing them proves that no handle is left; no timer may be either.
func withLoops(
  _ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation, _ body: ([EventLoop]) throws -> Void
) throws {
  let threads = try (0..<count).map { try EventLoopThread(name: "loop \($0)") }
  let loops = threads.map(\.loop)
  defer { for loop in loops { loop.stop() } }
  // A loop that does not run yet lets the caller release.
  for loop in loops { try loop.perform {} }
  // A body that got stuck may have left its loop blocked: its own error says more than a join that hangs.
  try body(loops)
  for loop in loops {
    #expect(loop.scheduledCount == 0, "timers are left", sourceLocation: sourceLocation)
    loop.stop()
  }
  for thread in threads { try thread.join() }
}

extension EventLoop {
  /// Runs `body` on the loop's thread and waits for it.
  func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    let result = Handed<Result<R, any Error>>()
    let done = Gate("a closure on a loop")
    execute {
      result.value = Result { try body() }
      done.open()
    }
    try done.wait()
    return try #require(result.value).get()
  }

  /// Keeps the loop's thread busy until the gate opens; returns when it is.
  func block(by gate: Gate) throws {
    let isBlocked = Gate("the loop being blocked")
    execute {
      isBlocked.open()
      do { try gate.wait() } catch { Issue.record(error) }
    }
    try isBlocked.wait()
  }
}
