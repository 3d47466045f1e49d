/// A child environment that outlives the call that opened it, such as a request whose response is written later.
///
/// `EnvironmentFactory.open` returns the handle. The child ends once: by `end()`, with a failure by `end(failing:)`, after
/// a closure by `end(after:)`, or at the latest when the last reference to the handle is dropped. A dropped handle is a
/// fault of the program or an abandoned request: the log names the place of `open`. A child that its handle has not ended
/// fails, also where its parent ends: its beans receive an outcome `.failed` whose error names the end.
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

  @usableFromInline
  init(_ environment: Environment) { self.environment = environment }

  deinit { environment.endDropped() }

  /// Runs `body` while the child is `Environment.current`. The child stays open, also if `body` throws.
  ///
  /// An end from outside keeps the beans until `body` has returned.
  ///
  /// - Parameter body: receives the child; runs on the calling thread.
  /// - Throws: the error of `body`.
  @_disfavoredOverload
  public func withCurrent<R>(_ body: (Environment) throws -> R) rethrows -> R {
    guard environment.tryEnter() else { return try run(body) }
    return try environment.inside { _ in try run(body) }
  }

  /// Runs `body` while the child is `Environment.current` for the task and its child tasks. The child stays open, also if
  /// `body` throws or is cancelled.
  ///
  /// An end from outside keeps the beans until `body` has returned.
  ///
  /// - Parameter body: receives the child; runs on the caller's actor.
  /// - Throws: the error of `body`.
  public nonisolated(nonsending) func withCurrent<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    guard environment.tryEnter() else { return try await run(body) }
    return try await environment.inside { _ in try await run(body) }
  }

  private func run<R>(_ body: (Environment) throws -> R) rethrows -> R {
    try Environment.$current.withValue(environment) { try body(environment) }
  }

  private nonisolated(nonsending) func run<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    try await Environment.$current.withValue(environment) { try await body(environment) }
  }

  /// Ends the child, and returns once everything is released. A later end has no effect.
  ///
  /// With an error, the child ends as failed: its beans receive the outcome `.failed(error)`, and failures of releases are
  /// logged, not thrown. An end that has begun keeps its outcome.
  ///
  /// In asynchronous code the compiler selects the asynchronous form. This form cannot await: where a bean of the child has
  /// an asynchronous release, the child fails, and a task releases the bean.
  ///
  /// - Parameter error: the reason of the failure; nil for an end as completed.
  /// - Throws: without an error, the failures of releases; `.finished` if another end has failed the child, such as that
  ///   of its parent.
  public func end(failing error: (any Error)? = nil) throws {
    if let error {
      if begin() { environment.finishBody(failing: error, as: .handle) }
    } else if try beginUnlessEnded() {
      try environment.finishBody(as: .handle)
    }
  }

  /// Ends the child as the synchronous form does, and awaits asynchronous releases.
  ///
  /// Without a bean whose release is asynchronous or needs a loop, this suspends nothing.
  ///
  /// - Parameter error: the reason of the failure; nil for an end as completed.
  /// - Throws: as the synchronous form; an asynchronous release is not a failure here.
  public func end(failing error: (any Error)? = nil) async throws {
    if let error {
      if begin() { await environment.finishBody(failing: error, as: .handle) }
    } else if try beginUnlessEnded() {
      try await environment.finishBody(as: .handle)
    }
  }

  /// Runs `body` while the child is `Environment.current`, then ends the child; as failed if `body` throws.
  ///
  /// An end from outside keeps the beans until `body` has returned, and `body` decides the outcome.
  ///
  /// - Parameter body: receives the child; runs on the calling thread.
  /// - Throws: the error of `body`; else as `end()`; `.finished`, without a call of `body`, if the child has ended.
  @_disfavoredOverload
  public func end<R>(after body: (Environment) throws -> R) throws -> R {
    guard begin() else { throw place.met(environment.finishedError()) }
    return try environment.end(as: .handle, after: body)
  }

  /// Runs `body` while the child is `Environment.current`, then ends the child, also if `body` throws or is cancelled; as
  /// failed if `body` throws. Returns once everything is released.
  ///
  /// An end from outside keeps the beans until `body` has returned, and `body` decides the outcome.
  ///
  /// - Parameter body: receives the child; runs on the caller's actor.
  /// - Throws: the error of `body`; else as `await end()`; `.finished`, without a call of `body`, if the child has ended.
  public nonisolated(nonsending) func end<R>(
    after body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    guard begin() else { throw place.met(environment.finishedError()) }
    return try await environment.end(as: .handle, after: body)
  }

  /// The call that opened the child.
  private var place: SourceLocation { .literal(environment.core.place) }

  /// Begins the last body of the child. Returns false where an end has begun.
  private func begin() -> Bool { environment.changeLocked { $0.enterLastBody() } }

  /// Begins the last body of the child. Returns false where an end has begun.
  ///
  /// - Throws: `.finished` where another end has failed the child.
  private func beginUnlessEnded() throws -> Bool {
    if begin() { return true }
    try environment.checkBodies()
    return false
  }
}
