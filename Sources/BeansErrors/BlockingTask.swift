import Dispatch

/// Runs asynchronous work from a thread without a task, such as the thread of a synchronous `main`.
package enum BlockingTask {
  /// Runs the work in a task and blocks the calling thread until the work has ended.
  ///
  /// Not to be called from inside a task: the work may need the blocked thread.
  ///
  /// - Throws: the error that the work throws.
  package static func run(_ work: @escaping @Sendable () async throws -> Void) throws {
    let outcome = Locked<Result<Void, any Error>>(.success(()))
    let done = DispatchSemaphore(value: 0)
    Task {
      do { try await work() } catch { outcome.withLock { $0 = .failure(error) } }
      done.signal()
    }
    done.wait()
    try outcome.withLock { $0 }.get()
  }
}
