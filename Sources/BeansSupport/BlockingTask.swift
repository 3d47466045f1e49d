import Dispatch

/// Asynchronous work for a thread that has nothing else to do, as that of a synchronous `main`.
package enum BlockingTask {
  /// Runs the work in a task and keeps the calling thread until it is done.
  ///
  /// Not from inside a task: the thread that it keeps may be the one that the work needs.
  ///
  /// - Throws: what the work throws.
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
