/// A child environment that outlives the call that opened it, such as a request whose response is written later.
///
/// `EnvironmentFactory.open` returns the handle. The child ends once: by `end()`, with a failure by `end(failing:)`, after
/// a closure by `end(after:)`, or at the latest when the last reference to the handle is dropped. A dropped handle is a
/// fault of the program or an abandoned request: the log names the place of `open`, and the outcome for the child's beans
/// is `.failed(CancellationError())`.
///
///     let request = try requests.open(seed)
///     var response = try await request.withCurrent { _ in try await respond() }
///     let body = response.body
///     response.body = ResponseBody { writer in
///       // Not on the caller's actor, because the writer is not Sendable.
///       try await request.end { @concurrent _ in try await body.write(writer) }
///     }
///
/// Every method may be called from any thread. Costs one allocation more than `withChild`.
public final class ChildHandle: Sendable {
  /// The child. Lookups in it throw `.finished` once an end has begun.
  public let environment: Environment
  /// The place of the call of `open`.
  private let location: SourceLocation

  init(_ environment: Environment, openedAt location: SourceLocation) {
    self.environment = environment
    self.location = location
  }

  deinit { environment.endDropped(openedAt: location) }

  /// Runs `body` while the child is `Environment.current`. The child stays open, also if `body` throws.
  ///
  /// - Parameter body: receives the child; runs on the calling thread.
  /// - Throws: the error of `body`.
  public func withCurrent<R>(_ body: (Environment) throws -> R) rethrows -> R {
    try Environment.$current.withValue(environment) { try body(environment) }
  }

  /// Runs `body` while the child is `Environment.current` for the task and its child tasks. The child stays open, also if
  /// `body` throws or is cancelled.
  ///
  /// - Parameter body: receives the child; runs on the caller's actor.
  /// - Throws: the error of `body`.
  public nonisolated(nonsending) func withCurrent<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    try await Environment.$current.withValue(environment) { try await body(environment) }
  }

  /// Ends the child as `Environment.finish()` does. A later end has no effect.
  ///
  /// - Throws: the failures of releases that ended before this returns. A bean with an asynchronous release is such a
  ///   failure: use `await end()`.
  public func end() throws {
    environment.finish()
    // A scope bound to a loop is not awaited here.
    if environment.isReleased { try environment.throwFailures() }
  }

  /// Ends the child and returns once everything is released; awaits asynchronous releases. A later end has no effect.
  ///
  /// Without a bean whose release is asynchronous or needs a loop, this is a call of `finish()` that suspends nothing.
  ///
  /// - Throws: the failures of releases.
  public func end() async throws { try await environment.shutdown() }

  /// Ends the child as failed: its beans receive the outcome `.failed(error)`. Failures of releases are logged.
  ///
  /// - Parameter error: the reason of the failure. An end that has begun keeps its outcome.
  public func end(failing error: any Error) { environment.finish(failing: error) }

  /// Ends the child as failed, and returns once everything is released; awaits asynchronous releases. Failures of
  /// releases are logged.
  ///
  /// - Parameter error: the reason of the failure. An end that has begun keeps its outcome.
  public func end(failing error: any Error) async {
    environment.noteOutcome(failing: error)
    // A failed release has been logged.
    try? await environment.shutdown()
  }

  /// Runs `body` while the child is `Environment.current`, then ends the child; as failed if `body` throws.
  ///
  /// - Parameter body: receives the child; runs on the calling thread.
  /// - Throws: the error of `body`; else as `end()`.
  public func end<R>(after body: (Environment) throws -> R) throws -> R {
    let result: R
    do { result = try withCurrent(body) } catch {
      end(failing: error)
      throw error
    }
    try end()
    return result
  }

  /// Runs `body` while the child is `Environment.current`, then ends the child, also if `body` throws or is cancelled; as
  /// failed if `body` throws. Returns once everything is released.
  ///
  /// - Parameter body: receives the child; runs on the caller's actor.
  /// - Throws: the error of `body`; else as `await end()`.
  public nonisolated(nonsending) func end<R>(
    after body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    let result: R
    do { result = try await withCurrent(body) } catch {
      await end(failing: error)
      throw error
    }
    try await end()
    return result
  }
}
