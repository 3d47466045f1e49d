import BeansErrors
import Dispatch
import Synchronization

/// Ends for which a caller waits: the wait, the releases that are taken over meanwhile, and the report of the state.
extension Environment {
  /// Calls `body` when everything here has been released; at once if it has been already.
  @inline(never)
  package func whenReleased(_ body: @escaping @Sendable () -> Void) {
    // Made first: a release that comes after the check finds them.
    let extras = extras
    if core.lock.withLock({ core.lifecycle.isReleased }) { return body() }
    extras.whenEnded(body)
  }

  /// Waits for the release of everything here and below. Meanwhile, releases the beans that belong to the calling
  /// thread or to a loop that has stopped.
  ///
  /// - Returns: false where this thread would wait for itself.
  @discardableResult
  func waitUntilReleased() -> Bool {
    var canWait = !ResolutionContext.isInside(self) && !isInsideBody
    for child in liveChildren { canWait = child.waitUntilReleased() && canWait }
    if isReleased { return true }
    let extras = extras
    let signal = extras.addWaiter()
    if core.lock.withLock({ core.lifecycle.isReleased }) { return true }
    while !extras.isDone {
      if let part = takePart(ofThisThread: true) {
        part()
        continue
      }
      // Lookups on other threads, which a release has to wait for, may themselves wait for this one.
      let isBlocked = host?.canReleaseHere == true && core.lifecycle.phase < .releasing
      if !canWait || isBlocked || extras.isAwaitedHere { return false }
      extras.watch?.arm()
      signal.wait()
    }
    return true
  }

  func throwFailures() throws { try throwFailures(existingExtras?.takeFailures() ?? []) }

  private func throwFailures(_ failures: [any Error]) throws {
    let failure = EnvironmentError.combining(failures, code: .destructionFailed) {
      "\($0) releases failed in environment '\(name)'"
    }
    if let failure { throw failure }
  }

  /// Throws the failures. After a limit, those here and below, and an error that names the beans that are left.
  func throwFailures(of watch: EndWatch) throws {
    guard watch.isLimited else { return try throwFailures() }
    let state = endState(takesFailures: true)
    guard let fault = watch.fault(of: self, state) else { return try throwFailures(state.failures) }
    tell(fault)
    try throwFailures(state.failures + [fault])
  }

  /// Makes a watch for the end, for a caller that waits.
  func watchEnd(within limit: Duration? = nil) -> EndWatch {
    let watch = EndWatch(self, limit: limit)
    self.watch(by: watch)
    if limit != nil { watch.arm() }
    return watch
  }

  /// Waits for the release of everything here and below, or until the watch gives up.
  nonisolated(nonsending) func untilOver(_ watch: EndWatch) async {
    if !isReleased { watch.arm() }
    await withCheckedContinuation { continuation in
      watch.whenOver { continuation.resume() }
      whenReleased { watch.end() }
    }
  }

  /// Waits as `untilOver` does, while the calling thread runs the releases that belong to it. In an end with a limit it
  /// runs none: they move to spare threads.
  func wait(for watch: EndWatch) {
    guard watch.isLimited else {
      waitUntilReleased()
      return watch.end()
    }
    whenReleased { watch.end() }
    while !isReleased, !watch.hasGivenUp {
      takeOver(ofThisThread: true)
      watch.signal.wait()
    }
  }

  /// Registers, here and below, a watch that waits for the end. An unlimited watch does not replace a limited one.
  func watch(by watch: EndWatch) {
    let extras = extras
    if !watch.isLimited, extras.watch?.isLimited == true { return }
    extras.watch = watch
    core.lock.withLock { core.insert(.watched) }
    for child in liveChildren { child.watch(by: watch) }
  }

  /// The releases that are in flight here and below.
  var releasesBelow: [ReleaseInProgress] {
    liveChildren.flatMap(\.releasesBelow) + [existingExtras?.running].compactMap(\.self)
  }

  /// Moves releases that wait for the thread of a loop to spare threads, here and below. Skips an environment in which
  /// a bean is being released.
  ///
  /// - Parameter ofThisThread: whether only those move that wait for the calling thread, because it is that of their loop.
  func takeOver(ofThisThread: Bool) {
    for child in liveChildren { child.takeOver(ofThisThread: ofThisThread) }
    if existingExtras?.running == nil, let part = takePart(ofThisThread: ofThisThread) { SpareThread.run(part) }
  }

  /// Takes the part of the end that waits for the thread of a loop: the whole release, or the rest of it. The work that
  /// was sent to the loop finds nothing left to do.
  ///
  /// - Parameter ofThisThread: whether the part is taken only if it waits for the calling thread.
  func takePart(ofThisThread: Bool) -> (@Sendable () -> Void)? {
    if let host, !ofThisThread || host.canReleaseHere, takeBack() { return { self.release(onHost: false) } }
    return existingExtras?.takeErrand(ofThisThread: ofThisThread).map { errand in { errand(false) } }
  }

  /// Returns the state of the end, here and below.
  ///
  /// - Parameter takesFailures: whether the state also takes the failures of releases, to be thrown with the report of
  ///   the rest.
  func endState(takesFailures: Bool = false) -> EndState {
    var state = EndState()
    add(to: &state, takesFailures: takesFailures)
    return state
  }

  private func add(to state: inout EndState, takesFailures: Bool) {
    let count = state.levels.count
    for child in liveChildren { child.add(to: &state, takesFailures: takesFailures) }
    // A child that ends meanwhile hands its failures over before it leaves, so the failures here are read after the
    // children.
    let extras = existingExtras
    let (failures, running) = extras?.releases(takesFailures: takesFailures) ?? ([], nil)
    state.failures += failures
    // Under the lock: lookups that are still in flight append to the log.
    let (lifecycle, slots) = core.lock.withLock { () -> (Lifecycle, [Int32]) in
      let lifecycle = core.lifecycle
      let count = running?.release.site.behind ?? (lifecycle.phase < .releasing ? createdBeans : 0)
      return (lifecycle, (0..<count).reversed().map { creationLog[$0] })
    }
    if lifecycle.isReleased {
      state.failures += extras?.releases(takesFailures: takesFailures).failures ?? []
      return
    }
    let isPostponed = core.isPostponed.load(ordering: .relaxed)
    let wait: String? =
      if running != nil || state.levels.count > count {
        nil
      } else if lifecycle.bodies > 0 {
        "in which \(body) still runs"
      } else if isPostponed, host != nil {
        "whose loop has not released it yet"
      } else if isPostponed || lifecycle.users > 0 {
        "which lookups still use"
      } else {
        lifecycle.phase < .releasing ? "whose release has not begun" : "whose release is under way"
      }
    let left = slots.filter { !isFace($0) }.map { recipe($0).value.label }
    state.levels.append(EndState.Level(name: name, running: running, wait: wait, left: left))
  }
}

/// A snapshot of an end: each release has failed, is in flight or is left.
struct EndState {
  /// One environment that has not been released.
  struct Level {
    let name: String
    /// The release in flight.
    let running: ReleaseInProgress?
    /// The reason in words if there is no such release; nil where an environment below has not been released.
    let wait: String?
    /// Labels of the beans that have not been released, in the order of their release.
    let left: [String]
  }

  /// The environments that have not been released, innermost first.
  var levels: [Level] = []
  var failures: [any Error] = []

  /// Returns descriptions of everything that the end waits for, innermost first.
  func reasons(_ now: Duration) -> [String] {
    levels.compactMap { level in
      if let release = level.running { return isTold(release) ? nil : release.description(now) }
      return level.wait.map { "'\(level.name)', \($0)" }
    }
  }

  /// Environments with the beans that are left in them, innermost first. An environment without such beans is omitted
  /// when its own reason already names it.
  var left: [String] {
    levels.compactMap { level in
      if level.left.isEmpty {
        let isNamed = level.running != nil || level.wait != nil
        if isNamed { return nil }
        return "'\(level.name)'"
      }
      let more = level.left.count > 8 ? " and \(level.left.count - 8) more" : ""
      return "'\(level.name)' with \(level.left.prefix(8).joined(separator: ", "))\(more)"
    }
  }

  /// Whether `failures` already contains the failure of a release that was abandoned after this snapshot saw it in
  /// flight. Such a failure was taken from an environment further out.
  private func isTold(_ release: ReleaseInProgress) -> Bool {
    guard let failure = release.failure?.report else { return false }
    return failures.contains { ($0 as? EnvironmentError)?.report == failure }
  }
}
