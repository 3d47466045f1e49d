import BeansConfiguration
import Synchronization

extension Environment {
  /// Creates an empty environment, to be declared, then started.
  ///
  /// - Parameters:
  ///   - name: for reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. It may be started or not; it
  ///     is started before this one.
  ///   - traceOrigin: keeps the origins of declarations in `report()`. Errors name them anyhow.
  /// - Throws: `.finished` when the parent has been finished.
  public convenience init(name: String = "environment", parent: Environment? = nil, traceOrigin: Bool = false) throws {
    if let parent, parent.core.lifecycle.isEnding { throw parent.finishedError() }
    let declarations = EnvironmentDeclarations(
      name: name, configuration: ConfigurationManager(parent: parent?.configuration))
    self.init(declarations, traceOrigin: traceOrigin, parent: parent, .plain)
  }

  /// What a factory's `configure` is handed: declares, never starts.
  convenience init(configuring declarations: EnvironmentDeclarations, parent: Environment?) {
    self.init(declarations, traceOrigin: false, parent: parent, [.plain, .template])
  }

  private convenience init(
    _ declarations: EnvironmentDeclarations, traceOrigin: Bool, parent: Environment?, _ kind: EnvironmentCore.Kind
  ) {
    let resources = EnvironmentResources(declarations, traceOrigin: traceOrigin, log: parent?.log ?? .shared)
    self.init(EnvironmentCore(parent: parent, kind, EnvironmentExtras(resources)))
  }

  /// Validates all declarations and builds every singleton that is not lazy. The first lookup does it otherwise.
  ///
  /// Starts the parent first. Threads that come meanwhile wait. A second call returns at once.
  ///
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; what a factory
  ///   threw as `.creationFailed`. What was already built has been released then, in reverse order, and every later
  ///   call throws the same error.
  @discardableResult
  public func startup() throws -> Self {
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded()
    return self
  }

  /// Calls `body` once everything here has been released, on the thread that released it; at once if that is so already.
  public func whenFinished(_ body: @escaping @Sendable () -> Void) { whenReleased(body) }

  /// Begins the end: from now on lookups here and below throw `.finished`.
  ///
  /// Children are finished first. Beans are released in reverse order of creation, each exactly once, whatever fails.
  /// Scopes without a loop are released before this returns, unless lookups are under way on other threads: then by
  /// the last one to end. Scopes bound to a loop are released there; this does not wait for them. Failures are logged
  /// and thrown by the next `shutdown()`. Idempotent, from any thread.
  public func finish() { beginFinish() }

  /// Finishes the whole subtree and waits until everything is released.
  ///
  /// On a loop's own thread the scopes bound to that loop are released in place instead of being waited for. Called
  /// from inside a factory of this environment it cannot wait, and begins the end only.
  ///
  /// - Throws: what failed, once: one failure as it is (`.destructionFailed`), several as one error holding all. A
  ///   second call returns at once. A bean whose release is asynchronous is such a failure: use `await shutdown()`.
  public func shutdown() throws {
    beginFinish()
    guard !ResolutionContext.isInside(self) else { return }
    waitUntilReleased()
    try throwFailures()
  }

  /// As the synchronous `shutdown()`, and awaits asynchronous releases in their place in the order.
  public func shutdown() async throws {
    if core.lifecycle.phase < .finishing { extras.isAsynchronous.store(true, ordering: .relaxed) }
    beginFinish()
    // From a release of the environment itself, or below, there is nothing to wait for but oneself.
    if let inner = Environment.releasing, inner === self || inner.isDescendant(of: self) { return }
    await withCheckedContinuation { continuation in whenReleased { continuation.resume() } }
    try throwFailures()
  }
}
