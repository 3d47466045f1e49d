import Beans
import BeansEventLoop
import TestSupport

/// Runs loops on threads of their own around `body`, and closes them.
func withLoops(_ count: Int = 1, _ body: ([EventLoop]) throws -> Void) throws {
  let threads = try (0..<count).map { try EventLoopThread(name: "loop \($0)") }
  // If `body` throws, a join could hang.
  defer { for thread in threads { thread.loop.stop() } }
  try body(threads.map(\.loop))
  for thread in threads { try thread.stopAndJoin() }
}

extension EventLoop {
  /// Keeps the loop's thread busy until the gate opens; returns when it is.
  func block(by gate: Gate) throws {
    let isBlocked = Gate()
    execute {
      isBlocked.open()
      try? gate.wait()
    }
    try isBlocked.wait()
  }
}

extension Environment {
  /// Waits until something else has ended this environment and everything is released.
  func waitForEnd() throws {
    let end = Gate()
    whenFinished { end.open() }
    try end.wait()
  }
}
