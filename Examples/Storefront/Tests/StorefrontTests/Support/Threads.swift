import Dispatch
import Foundation

@testable import Storefront

/// Thrown instead of waiting for ever: a deadlock fails one test and not the run.
struct Stuck: Error, CustomStringConvertible {
  let description: String
}

/// The time that a test waits for an event: long enough for a loaded machine under a sanitizer.
let patience = DispatchTimeInterval.seconds(600)

/// A gate for threads that is closed until it is opened; then it stays open.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func wait() throws {
    guard semaphore.wait(timeout: .now() + patience) == .success else {
      throw Stuck(description: "a gate has not been opened")
    }
    semaphore.signal()
  }
}

/// Runs a body on a thread of its own, so that blocking in it does not starve the pool that runs the tests.
final class BackgroundThread<Value: Sendable>: Sendable {
  private let outcome = Guarded<Result<Value, any Error>?>(nil)
  private let ended = Gate()

  init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [outcome, ended] in
      let result = Result { try body() }
      outcome.withLock { $0 = result }
      ended.open()
    }
  }

  /// Waits for the end of the thread. Returns the value of its body, and throws its error; throws `Stuck` if the thread
  /// does not end.
  @discardableResult
  func value() throws -> Value {
    try ended.wait()
    guard let outcome = outcome.withLock({ $0 }) else { throw Stuck(description: "no outcome") }
    return try outcome.get()
  }
}

/// Runs tasks on a thread of its own: tests may block all threads of the pool.
final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks of a test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
