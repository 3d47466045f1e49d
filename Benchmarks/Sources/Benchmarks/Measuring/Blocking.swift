import Dispatch

/// Runs `body` in a task of its own, and returns when the task has ended.
func blocking(_ body: @escaping @Sendable () async throws -> Void) throws {
  let (done, outcome) = (DispatchSemaphore(value: 0), Outcome())
  Task.detached {
    do { try await body() } catch { outcome.error = error }
    done.signal()
  }
  done.wait()
  if let error = outcome.error { throw error }
}

private final class Outcome: @unchecked Sendable {  // written before the semaphore is signalled, read afterwards
  var error: (any Error)?
}
