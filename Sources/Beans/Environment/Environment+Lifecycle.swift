import BeansConfiguration
import Synchronization

extension Environment {
  /// Creates an empty environment, for declarations and then startup.
  ///
  /// - Parameters:
  ///   - name: the name in reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. If the parent has not started,
  ///     it starts before this environment.
  ///   - traceOrigin: keeps the origins of declarations for `report()`: file and line, in a document also the column.
  ///     Errors contain origins in any case.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
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
    self.init(declarations, traceOrigin: traceOrigin, parent: parent, CallPlace(file: file, line: line))
  }

  /// Creates an environment that is not a child of a factory, or the argument of a factory's `configure`.
  convenience init(
    _ declarations: EnvironmentDeclarations, traceOrigin: Bool = false, parent: Environment?, _ place: CallPlace
  ) {
    let resources = EnvironmentResources(declarations, traceOrigin: traceOrigin)
    self.init(EnvironmentCore(parent: parent, EnvironmentExtras(resources), place))
  }

  private func start(_ options: Set<StartupOption>) throws {
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded(options: options)
    if let unready = resources?.unready, !unready.isEmpty {
      throw EnvironmentError(
        .notReady,
        "environment '\(name)' has started, except for beans that have to be awaited: \(unready.joined(separator: ", ")); "
          + "call 'try await ready()'", path: ["'\(name)'"])
    }
  }

  /// Validates all declarations and builds every singleton that is not lazy. Without this call, the first lookup does
  /// so.
  ///
  /// Starts the parent first. Other threads wait until startup has ended. A second call returns at once. Beans with an
  /// asynchronous creation, and the beans that depend on them, are left to `ready()`.
  ///
  /// - Parameters:
  ///   - options: additional checks and records.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; an error of a
  ///   factory as `.creationFailed`. Then the beans already built have been released, in reverse order, and every later
  ///   call throws the same error. `.notReady` where asynchronous beans are missing: then the environment has started,
  ///   and lookups of all other beans succeed. `.invalidDeclaration` for each bean that the options reject: an environment
  ///   that has already started remains started.
  @discardableResult
  public func startup(
    options: Set<StartupOption> = [], file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    do { try start(options) } catch { throw SourceLocation(file: file, line: line).met(error) }
    return self
  }

  /// Validates all declarations and builds every bean that is not lazy, awaiting the asynchronous creations.
  ///
  /// Makes the parent ready first, except inside an asynchronous factory of the parent. Beans that do not need each
  /// other are created side by side, each after its dependencies. In a child of a factory, this creates the child's own
  /// asynchronous beans that are not lazy; synchronous beans are built at their first lookup. Several tasks may call
  /// this method. A cancelled task does not affect a creation for which other tasks wait.
  ///
  /// The first failure cancels the other creations and is thrown at once. If no creation is in flight by then, the
  /// beans that were built have already been released, in reverse order. Otherwise their release follows when the
  /// creations have ended; `shutdown()` waits for it. A child of a factory stays open, and the next call tries again.
  ///
  /// - Parameters:
  ///   - options: checks that run before anything is built.
  ///   - file: the file of the call, which errors name.
  ///   - line: the line of the call.
  /// - Throws: the errors of `startup`. After a bean has failed, every later call throws the same error.
  ///   `CancellationError` changes nothing: the next call continues.
  @discardableResult
  public func ready(
    options: Set<StartupOption> = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Self {
    do { try await makeReady(options: options, file: file, line: line) } catch {
      throw SourceLocation(file: file, line: line).met(error)
    }
    return self
  }

  /// Makes everything ready like `ready(options:)`; its errors name no call.
  ///
  /// - Throws: the errors of `ready(options:)`.
  package func makeReady(
    options: Set<StartupOption> = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await AwaitingCall("ready()", at: SourceLocation(file: file, line: line)).makeReady(self, options)
  }

  /// Begins the end: from now on, lookups here and below throw `.finished`.
  ///
  /// Children are finished first. Beans are released in reverse order of creation, each exactly once, even if releases
  /// fail. Scopes without a loop are released before this returns; if lookups or bodies are in flight, such as the closure
  /// of `withChild`, the last one to end releases instead. Scopes bound to a loop are released there; this does not wait for
  /// them. From the first release that has to be awaited, a task continues the end, and the parent's `await shutdown()`
  /// awaits it. Failures are logged, and the next `shutdown()` throws them. Idempotent; safe to call from any thread.
  ///
  /// With an error, the end is that of a scope whose work has failed: `.onDestroy` of its beans, and of beans in children
  /// that this call ends, receives the error. The first end decides the outcome: once an end has begun, the error has no
  /// effect. A body that runs, such as the closure of `withChild`, decides for its own child: there, the error counts if
  /// the body itself makes the call.
  ///
  /// - Parameters:
  ///   - error: the reason of the failure; nil for an end as completed.
  ///   - file: the source file of the call, for errors of later lookups.
  ///   - line: the line of the call.
  @inlinable
  public func finish(failing error: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line) {
    let place = CallPlace(file: file, line: line)
    if let error { finish(failing: error, at: place) } else { finish(at: place) }
  }

  @usableFromInline
  func finish(at place: CallPlace) {
    // Usually there have been no children.
    if finishAlone(.finish) { return }
    noteEnd(at: place)
    beginFinish(.finish)
  }

  @usableFromInline
  func finish(failing error: any Error, at place: CallPlace) {
    noteEnd(at: place)
    noteOutcome(failing: error)
    beginFinish(.finish)
  }

  /// Finishes the whole subtree and waits until everything is released.
  ///
  /// On a loop's own thread, the scopes bound to that loop are released in place. Inside a factory of this environment, and
  /// inside a body here or below, `shutdown()` cannot wait, and only begins the end. From the third second on, the log
  /// reports the reasons for the wait.
  ///
  /// Within a time limit, this returns or throws at the deadline at the latest, even if a release hangs or a body does not
  /// return. A tenth of a second before the deadline, a release that hangs is abandoned, and so is a body that still runs,
  /// such as the closure of `withChild`, so that all others are released in time; of a limit below a fifth of a second,
  /// half is reserved for them. The child of an abandoned body fails: its beans receive the outcome `.failed`, and its
  /// `withChild` throws `.finished`. An abandoned release may still return, without effect on the container. A release that
  /// is still running at the deadline is named in the error, and the remaining beans are released after it. Releases run on
  /// other threads than the caller's. The releases of a scope on a loop run on the loop; if the loop does not run them in
  /// time, they run elsewhere, and at once if the calling thread is the loop's own.
  ///
  /// - Parameters:
  ///   - limit: the time limit of the whole end; nil for none.
  ///   - file: the source file of the call, for errors of later lookups.
  ///   - line: the line of the call.
  /// - Throws: the failures, once: a single failure as itself (`.destructionFailed`), several as one error that
  ///   contains all. A second call returns at once. A bean with an asynchronous release is such a failure, and is released
  ///   by a task that this does not await: use `await shutdown()`. With a limit, `.destructionFailed` also names each
  ///   abandoned release and body, with environment, place and time; past the limit also the beans that are left.
  public func shutdown(
    within limit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    try endAndWait(within: limit, at: CallPlace(file: file, line: line))
  }

  /// Shuts down as the synchronous `shutdown(within:)` does, and awaits asynchronous releases in their place in the order.
  ///
  /// Call this from a function: in top-level code the compiler selects the synchronous form, and warns that `await` has
  /// no effect.
  ///
  /// - Parameters:
  ///   - limit: the time limit of the whole end; nil for none.
  ///   - file: the source file of the call, for errors of later lookups.
  ///   - line: the line of the call.
  /// - Throws: the failures, as the synchronous form; an asynchronous release is not a failure here.
  public func shutdown(
    within limit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    noteEnd(at: CallPlace(file: file, line: line))
    // Here: an asynchronous call costs more than the check.
    if limit == nil, endsAtOnce() { return try throwFailures() }
    try await endAwaiting(within: limit)
  }

  /// Begins the end. Beans of a host that no thread runs are released on another thread.
  package func finishStalled() {
    beginFinish(.finish)
    takeOver(ofThisThread: true)
  }

  @inline(never)
  private func noteEnd(at place: CallPlace) { existingExtras?.ended(at: place) }

  private func endAndWait(within limit: Duration?, at place: CallPlace) throws {
    noteEnd(at: place)
    forbidAwaiting()
    if limit == nil, endsAtOnce() { return try throwFailures() }
    if isInside { return beginFinish(.shutdown) }
    let watch = beginEnd(within: limit)
    wait(for: watch)
    try throwFailures(of: watch)
  }

  private func endAwaiting(within limit: Duration?) async throws {
    let limit = await RunningBeans(of: self).end(within: limit)
    if isInsideTask { return beginFinish(.shutdown) }
    let watch = beginEnd(within: limit)
    await untilOver(watch)
    try throwFailures(of: watch)
  }

  /// Ends an environment that needs no watch. Returns false for every other one, and where lookups are in flight.
  private func endsAtOnce() -> Bool {
    if !releasesAtOnce { return false }
    beginFinish(.shutdown)
    return isReleased
  }

  /// Begins an end for which the caller waits. With a limit, releases run on another thread than the caller's.
  private func beginEnd(within limit: Duration?) -> EndWatch {
    let watch = watchEnd(within: limit)
    if limit == nil {
      beginFinish(.shutdown)
    } else {
      // At once: the caller may return before the other thread has begun.
      close(.shutdown)
      SpareThread.run { self.beginFinish(.shutdown) }
    }
    return watch
  }

  /// Whether the calling thread is inside the environment, or below, so that a wait would be for the caller itself.
  var isInside: Bool {
    ResolutionContext.isInside(self) || AsyncBuild.isInside(self) || BeanWork.isInside(self) || isInsideBody
  }

  /// Whether the running task is part of a release, a build, a body or the work of a bean of the environment, or of one
  /// below.
  private var isInsideTask: Bool {
    Environment.releasing?.isWithin(self) == true || AsyncBuild.isInside(self) || BeanWork.isInside(self)
      || isInsideBody
  }
}
