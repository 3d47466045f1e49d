import BeansConfiguration
import Synchronization

extension Environment {
  /// Creates an empty environment, to be declared, then started.
  ///
  /// - Parameters:
  ///   - name: for reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. It may be started or not; it
  ///     is started before this one.
  ///   - traceOrigin: keeps the origins of declarations in `report()`: file and line, of a document the column, too. Errors
  ///     name them anyhow.
  ///   - file: where it is created, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.finished` when the parent has been finished.
  public convenience init(
    name: String = "environment", parent: Environment? = nil, traceOrigin: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) throws {
    if let parent, parent.core.lifecycle.isEnding {
      throw SourceLocation(file: file, line: line).met(parent.finishedError())
    }
    let declarations = EnvironmentDeclarations(
      name: name, configuration: ConfigurationManager(parent: parent?.configuration),
      enclosing: parent?.nearestDeclarations)
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
  /// Starts the parent first. Threads that come meanwhile wait. A second call returns at once. Beans whose creation has to be
  /// awaited are left to `ready()`, and so is what needs them.
  ///
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; what a factory
  ///   threw as `.creationFailed`. What was already built has been released then, in reverse order, and every later
  ///   call throws the same error. `.notReady` where beans are missing that have to be awaited: the environment has started
  ///   then, and answers lookups of all others.
  @discardableResult
  public func startup(file: StaticString = #fileID, line: UInt = #line) throws -> Self {
    do { try start() } catch { throw SourceLocation(file: file, line: line).met(error) }
    return self
  }

  private func start() throws {
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded()
    if let unready = existingExtras?.resources?.unready, !unready.isEmpty {
      throw EnvironmentError(
        .notReady,
        "environment '\(name)' has started, but for what has to be awaited: \(unready.joined(separator: ", ")); "
          + "call 'try await ready()'", path: ["'\(name)'"])
    }
  }

  /// As `startup()`, and does what the options ask for.
  ///
  /// - Parameters:
  ///   - options: what is checked or recorded beyond that.
  ///   - file: where it is called, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `startup()`; `.invalidDeclaration` for each bean that the options refuse. Where the environment has started
  ///   before, it stays as it is.
  @discardableResult
  public func startup(
    options: StartupOptions, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    require(options)
    do {
      try start()
      if options.contains(.requireSendable) { try checkSharing() }
    } catch { throw SourceLocation(file: file, line: line).met(error) }
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

  /// As `finish()`, for a scope whose work has failed: `.onDestroy(outcome:)` of its beans, and of beans in children that this ends,
  /// is given the error.
  ///
  /// The first end decides: where one has begun, this changes nothing. `withChild` does it with an error that its body throws.
  ///
  /// - Parameter error: the reason of the failure.
  public func finish(failing error: any Error) {
    noteOutcome(failing: error)
    beginFinish()
  }

  /// Finishes the whole subtree and waits until everything is released.
  ///
  /// On a loop's own thread the scopes bound to that loop are released in place instead of being waited for. Called
  /// from inside a factory of this environment it cannot wait, and begins the end only. From the third second on the log
  /// says what it waits for.
  ///
  /// - Throws: what failed, once: one failure as it is (`.destructionFailed`), several as one error holding all. A
  ///   second call returns at once. A bean whose release is asynchronous is such a failure: use `await shutdown()`.
  public func shutdown() throws {
    guard let watch = beginWatch(isInside: isInside) else { return beginFinish() }
    beginFinish()
    waitUntilReleased()
    watch.end()
    try throwFailures()
  }

  /// As the synchronous `shutdown()`, and awaits asynchronous releases in their place in the order.
  ///
  /// Call it from a function: in top-level code the compiler chooses the synchronous form, and warns that `await` has no effect.
  ///
  /// - Throws: what failed, as the synchronous form; a release that is asynchronous is no failure here.
  public func shutdown() async throws {
    allowAwaiting()
    guard let watch = beginWatch(isInside: isInsideTask) else { return beginFinish() }
    beginFinish()
    if !isReleased { watch.arm() }
    await withCheckedContinuation { continuation in whenReleased { continuation.resume() } }
    watch.end()
    try throwFailures()
  }

  /// As `shutdown()`, and gives up in time: this returns or throws when the limit has passed, whatever hangs.
  ///
  /// A tenth of a second before the deadline, a release that hangs is abandoned, so that all others are released in time; half of
  /// a limit below a fifth of a second is kept for them. An abandoned release may still return, without effect on the container.
  /// A release that still runs at the deadline is named in the error, and the rest is released after it.
  ///
  /// Releases run on other threads than the caller's. Those of a scope on a loop run there; where the loop has not come to
  /// them in that time, they run elsewhere, at once where the calling thread is the loop's own.
  ///
  /// - Throws: `.destructionFailed`, which names each release that was abandoned, with bean, environment, place and time;
  ///   where the limit has passed also what is left. Otherwise as `shutdown()`.
  public func shutdown(within limit: Duration) throws {
    guard let watch = beginWatch(isInside: isInside, within: limit) else {
      return beginFinish()
    }
    close()
    SpareThread.run { self.beginFinish() }
    wait(until: watch)
    try throwFailures(of: watch)
  }

  /// As the synchronous `shutdown(within:)`, and awaits asynchronous releases in their place in the order.
  ///
  /// - Throws: as the synchronous form.
  public func shutdown(within limit: Duration) async throws {
    allowAwaiting()
    guard let watch = beginWatch(isInside: isInsideTask, within: limit) else { return beginFinish() }
    close()
    SpareThread.run { self.beginFinish() }
    await withCheckedContinuation { continuation in
      watch.whenOver { continuation.resume() }
      whenReleased { watch.end() }
    }
    try throwFailures(of: watch)
  }

  /// Has the end await asynchronous releases, unless it has begun.
  private func allowAwaiting() {
    if core.lifecycle.phase < .finishing { extras.isAsynchronous.store(true, ordering: .relaxed) }
  }

  /// Begins an end that awaits asynchronous releases, and releases on another thread the beans of each host that no thread runs.
  package func finishStalled() {
    allowAwaiting()
    beginFinish()
    takeOverFromThisThread()
  }

  /// nil where there is nothing to wait for but the caller itself.
  private func beginWatch(isInside: Bool, within limit: Duration? = nil) -> EndWatch? {
    if isInside { return nil }
    let watch = EndWatch(self, limit: limit)
    self.watch(by: watch)
    if limit != nil { watch.arm() }
    return watch
  }

  /// Whether the calling thread is inside the environment, or below.
  private var isInside: Bool { ResolutionContext.isInside(self) || AsyncBuild.isInside(self) }

  /// Whether the running task is part of a release or of a build of the environment itself, or below.
  private var isInsideTask: Bool {
    if let inner = Environment.releasing, inner === self || inner.isDescendant(of: self) { return true }
    return AsyncBuild.isInside(self)
  }
}
