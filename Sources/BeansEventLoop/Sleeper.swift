/// One task in `EventLoop.sleep(for:)`. Resumes the task exactly once, whether the timer, a cancellation or `close()`
/// comes first.
final class Sleeper: Sendable {
  @safe private enum State {
    case starting
    case waiting(UnsafeContinuation<Void, any Error>, TimerKey)
    case finished
  }

  // Protected by the lock of the loop's state, because every step of a sleeper is also a step of the timer heap.
  private nonisolated(unsafe) var state = State.starting

  func start(_ continuation: UnsafeContinuation<Void, any Error>, on loop: EventLoop, for duration: Duration) {
    let deadline = Deadline.after(duration)
    let failure = loop.state.withLock { shared -> (any Error)? in
      // A cancellation may come before the task has suspended.
      guard case .starting = unsafe state else { return CancellationError() }
      guard let key = loop.insertTimer(at: deadline, .wake(self), &shared) else {
        unsafe state = .finished
        return EventLoopError(.loopClosed, "sleep on an event loop")
      }
      unsafe state = unsafe .waiting(continuation, key)
      return nil
    }
    if let failure { unsafe continuation.resume(throwing: failure) }
  }

  /// Resumes the task when the timer has fired or the loop is being closed; the timer is no longer in the heap.
  func finish(on loop: EventLoop, throwing error: (any Error)? = nil) {
    guard let continuation = unsafe loop.state.withLock({ _ in unsafe takeWaiting()?.continuation }) else { return }
    if let error { unsafe continuation.resume(throwing: error) } else { unsafe continuation.resume() }
  }

  func cancel(on loop: EventLoop) {
    let continuation = unsafe loop.state.withLock { shared -> UnsafeContinuation<Void, any Error>? in
      guard let waiting = unsafe takeWaiting() else { return nil }
      // `remove` returns only the sleeper, so nothing is released under the lock.
      _ = unsafe shared.timers.remove(waiting.key)
      return unsafe waiting.continuation
    }
    unsafe continuation?.resume(throwing: CancellationError())
  }

  private func takeWaiting() -> (continuation: UnsafeContinuation<Void, any Error>, key: TimerKey)? {
    defer { unsafe state = .finished }
    guard case .waiting(let continuation, let key) = unsafe state else { return nil }
    return unsafe (continuation, key)
  }
}

extension EventLoop {
  /// Suspends the task for at least `duration`, on the loop's timers and without a thread. May be called from any task.
  /// A loop that does not run resumes no task.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, after the timer has been removed; `EventLoopError`
  ///   with `.loopClosed` when the loop is closed meanwhile.
  public nonisolated(nonsending) func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      try unsafe await withUnsafeThrowingContinuation { unsafe sleeper.start($0, on: self, for: duration) }
    } onCancel: {
      sleeper.cancel(on: self)
    }
  }
}
