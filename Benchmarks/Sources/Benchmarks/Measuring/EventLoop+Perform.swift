import BeansEventLoop
import Dispatch
import Synchronization

extension EventLoop {
  struct Stopped: Error {}

  /// Runs `body` on the loop's thread and waits for it.
  func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let answer = Answer<Value>()
    guard tryExecute({ answer.give(Result { try body() }) }) else { throw Stopped() }
    return try answer.wait()
  }
}

/// The result that one thread hands to another that waits for it.
private final class Answer<Value: Sendable>: Sendable {
  private let content = Mutex<Result<Value, any Error>?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  func give(_ result: Result<Value, any Error>) {
    content.withLock { $0 = result }
    isGiven.signal()
  }

  func wait() throws -> Value {
    isGiven.wait()
    guard let result = content.withLock({ $0 }) else { throw EventLoop.Stopped() }
    return try result.get()
  }
}
