import BeansErrors
import BeansLogging

/// The bodies that run inside of environments. A body keeps the beans until it has returned; the body that owns a child
/// decides the outcome.
extension Environment {
  // MARK: the body that owns a child

  /// Runs the body that owns a child while the child is current, and ends the child; as failed if the body throws.
  /// Returns once everything is released, as far as that need not be awaited.
  ///
  /// - Throws: the error of the body; else the failures of releases, or `.finished` if another end has failed the child.
  @usableFromInline
  func end<R>(as cause: EndCause, after body: (Environment) throws -> R) throws -> R {
    let result: R
    do { result = try Environment.$current.withValue(self) { try body(self) } } catch {
      finishBody(failing: error, as: cause)
      throw error
    }
    try finishBody(as: cause)
    return result
  }

  /// Runs the body that owns a child while the child is current, and ends the child; as failed if the body throws.
  /// Returns once everything is released.
  ///
  /// - Throws: the error of the body; else the failures of releases, or `.finished` if another end has failed the child.
  @usableFromInline
  nonisolated(nonsending) func end<R>(
    as cause: EndCause, after body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    let result: R
    do { result = try await Environment.$current.withValue(self) { try await body(self) } } catch {
      await finishBody(failing: error, as: cause)
      throw error
    }
    try await finishBody(as: cause)
    return result
  }

  /// Ends a child after its body has returned, and returns once everything is released. A release that has to be awaited
  /// fails the child, and is left to a task.
  ///
  /// - Throws: the failures of releases; `.finished` if another end has failed the child.
  @inline(__always)
  func finishBody(as cause: EndCause) throws {
    if mayAwait { try refuseAwaitedRelease(cause) }
    endBody(cause)
    if !isReleased { waitForRelease() }
    if core.extras != nil { try throwAfterBody() }
  }

  /// Fails and ends a child of which a release has to be awaited.
  @inline(never)
  private func refuseAwaitedRelease(_ cause: EndCause) throws {
    guard let bean = awaitedBean else { return }
    let fault = bean.fault(
      .asynchronousRelease,
      "\(bean.label) is released asynchronously, and the synchronous call at \(origin) cannot await that: '\(name)' has "
        + "failed, and a task releases it; write 'try await' before the call, in an asynchronous function")
    finishBody(failing: fault, as: cause)
    throw fault
  }

  /// Ends a child after its body has thrown, and returns once everything is released, except for a release that has to be
  /// awaited. Failures of releases are logged.
  func finishBody(failing error: any Error, as cause: EndCause) {
    let isAwaited = awaitedBean != nil
    fail(scope: error)
    endBody(cause)
    if !isReleased, !isAwaited { waitForRelease() }
  }

  /// Ends a child after its body has returned, and returns once everything is released.
  ///
  /// - Throws: the failures of releases; `.finished` if another end has failed the child.
  nonisolated(nonsending) func finishBody(as cause: EndCause) async throws {
    await endBodyAwaiting(cause)
    if core.extras != nil { try throwAfterBody() }
  }

  /// Ends a child after its body has thrown, and returns once everything is released. Failures of releases are logged.
  nonisolated(nonsending) func finishBody(failing error: any Error, as cause: EndCause) async {
    fail(scope: error)
    await endBodyAwaiting(cause)
  }

  /// Removes the body, and begins the end. The last user releases.
  @inline(__always)
  private func endBody(_ cause: EndCause) {
    // Usually there have been no children, and no other end.
    if !endAlone({ $0.finishBody(cause) }) { endBodyWithCare(cause) }
  }

  @inline(never)
  private func endBodyWithCare(_ cause: EndCause) {
    beginFinish(cause)
    leaveBody()
  }

  private nonisolated(nonsending) func endBodyAwaiting(_ cause: EndCause) async {
    if releasesAtOnce {
      endBody(cause)
      if isReleased { return }
    } else {
      _ = await RunningBeans(of: self).end()
    }
    let watch = watchEnd()
    endBody(cause)
    await untilOver(watch)
  }

  @inline(never)
  private func throwAfterBody() throws {
    if core.lifecycle.isOverruled { throw finishedError() }
    if isReleased { try throwFailures() }
  }

  /// Waits for the release, where that is possible on the calling thread.
  private func waitForRelease() {
    if !isInside { wait(for: watchEnd()) }
  }

  // MARK: outcomes

  /// Records an error as the scope outcome of the beans here, and of those in children that have no body of their own.
  @inline(never)
  func fail(scope error: any Error) {
    extras.fail(error)
    for child in liveChildren where child.core.lifecycle.owner != .body { child.noteOutcome(failing: error) }
  }

  /// Records an error as the scope outcome, for an end by hand. An end that has begun keeps its outcome, and a body that
  /// runs decides by itself, unless it is the caller.
  @inline(never)
  func noteOutcome(failing error: any Error) {
    let lifecycle = core.lifecycle
    let decides = if lifecycle.owner == .body { isCurrent } else { !lifecycle.isFinishing }
    if decides { fail(scope: error) }
  }

  /// Whether the running task is in a body here or below.
  private var isCurrent: Bool { Environment.current?.isWithin(self) == true }

  /// Whether the running task is in a body here or below that keeps the beans, so that a wait for the release would never
  /// end.
  var isInsideBody: Bool { isCurrent && Environment.current.map { $0.core.lifecycle.bodies > 0 } == true }

  // MARK: children whose parent ends

  /// Begins the end of a child whose parent ends, and whose lookups have ended. The child of a handle that has not ended it
  /// fails.
  ///
  /// - Returns: whether the caller has to finish the children of the child, and then to leave the child.
  func finishWithParent() -> Bool {
    let isOverruled = changeLocked { $0.overrule(.parent) }
    if isOverruled { extras.fail(finishedError()) }
    if finishAlone(.parent) { return false }
    let isFirst = finishHere(.parent)
    if isOverruled { leave() }
    joinWatch()
    return isFirst
  }

  /// Ends the builds of an environment that ends, and returns its children, which the log counts.
  func childrenToFinish() -> [Environment] {
    existingExtras?.endBuilds(throwing: finishedError())
    let live = liveChildren
    let unexpected = live.filter { !$0.isFollowed }
    if !unexpected.isEmpty {
      log.logger.info(
        "'\(name)' finishes the environments below it that are still open: \(Self.places(of: unexpected))")
    }
    return live
  }

  /// The places at which environments were opened, with their counts; most first.
  private static func places(of environments: [Environment]) -> String {
    let counts = Dictionary(grouping: environments, by: \.origin).mapValues(\.count)
    let sorted = counts.sorted { $0.value == $1.value ? $0.key.description < $1.key.description : $0.value > $1.value }
    return EndState.list(sorted.map { "\($0.value) opened at \($0.key)" }, separator: ", ")
  }

  /// Makes asynchronous releases fail in an end that has not begun: its caller waits without a task.
  func forbidAwaiting() { changeLocked { $0.forbidAwaiting() } }

  // MARK: ends that do not wait

  /// Fails the environment at once, without waiting for the bodies inside: a time has passed, or the owner has gone. Does
  /// nothing where a release has begun and no body is left.
  package func abandon(_ cause: EndCause) {
    guard changeLocked({ $0.overruleBodies(cause) }) else { return }
    extras.fail(finishedError())
    changeLocked { $0.abandonBodies() }
    beginFinish(cause)
    leave()
  }

  /// Abandons the bodies here and below, for a shutdown whose limit has passed. The shutdown throws their names.
  func abandonBodies(after time: Duration) {
    for child in liveChildren { child.abandonBodies(after: time) }
    if core.lifecycle.bodies == 0 { return }
    let failure = EnvironmentError(
      cause: .limitedRelease, "\(body) still runs in '\(name)', and has been abandoned after \(time.rounded)",
      path: ["'\(name)'"])
    note(failure)
    // A release may hang.
    SpareThread.run { self.abandon(.limit) }
  }

  /// The name of the body that runs, for reports.
  var body: String { "the body of the call at \(origin)" }

  /// The call that created the environment, or opened the child.
  var origin: EnvironmentError.Origin { core.place.origin }

  /// Ends a child that is open although its handle has been dropped.
  func endDropped() {
    if core.lifecycle.isEnding { return }
    log.logger.warn(
      "'\(name)' ends because its handle was dropped; \(origin) opened it: call end() of the handle")
    abandon(.dropped)
  }

  // MARK: the error of later lookups

  /// Returns the reason why lookups have ended: the error of startup, or `.finished` with the cause of the end.
  package func finishedError() -> any Error {
    if let cause = resources?.failure { return cause }
    return EnvironmentError(
      .finished, "environment '\(name)' has been finished" + (endReason.map { ": \($0)" } ?? ""), path: ["'\(name)'"])
  }

  /// The cause of the end in words.
  private var endReason: String? {
    guard let cause = core.lifecycle.cause else { return nil }
    let place = existingExtras?.endPlace.map { " at \($0.origin)" } ?? ""
    switch cause {
    case .body: return "the body of its withChild at \(origin) has ended"
    case .handle: return "its handle, opened at \(origin), has ended it"
    case .finish: return "finish()\(place) has ended it"
    case .shutdown: return "shutdown()\(place) has ended it"
    case .limit: return "the limit of a shutdown has passed while \(body) was running"
    case .parent: return parent.map { "'\($0.name)' has been finished" + ($0.endReason.map { ", since \($0)" } ?? "") }
    case .dropped: return "its handle, opened at \(origin), was dropped"
    case .deadline: return "its deadline has passed"
    case .idle: return "its idle time has passed"
    case .registry: return "its registry has ended it"
    case .evicted: return "its registry has evicted it"
    case .startup: return nil
    }
  }
}
