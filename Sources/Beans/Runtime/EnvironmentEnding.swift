import BeansLogging
import Dispatch
import Synchronization
import BeansErrors

/// The end of environments: lookups end first, then children are released, then beans, each exactly once.
extension Environment {
  /// Begins the end here and below. When a second call returns, all lookups here and below have ended, too.
  @inline(__always)
  func beginFinish(_ cause: EndCause) {
    // Usually there have been no children.
    if !finishAlone(cause) { finishAll(cause) }
  }

  /// Begins the end of an environment without extras. Returns false, and does nothing, where there are some.
  @inline(__always)
  func finishAlone(_ cause: EndCause) -> Bool {
    let (isOver, isAlone) = core.lock.withLock { () -> (Bool, Bool) in
      if core.extras != nil { return (false, false) }
      return (core.change { $0.finish(cause) && $0.releaseIfQuiet() }, true)
    }
    if isOver { release() }
    return isAlone
  }

  /// Begins the end of an environment with extras, and of those below, children first.
  @inline(never)
  private func finishAll(_ cause: EndCause) {
    let isFirst = finishHere(cause)
    // Every caller closes the children: no caller may return while an environment below still allows lookups.
    closeChildren()
    joinWatch()
    guard isFirst else { return }
    let children = childrenToFinish()
    if children.isEmpty { return leave() }
    // A path in place of recursion: a thousand environments may be nested.
    var path = [(environment: self, children: children[...])]
    while let last = path.last {
      guard let child = last.children.first else {
        path.removeLast()
        last.environment.leave()
        continue
      }
      path[path.count - 1].children.removeFirst()
      if last.environment.core.kind.contains(.synchronous) { child.forbidAwaiting() }
      if child.finishWithParent() { path.append((child, child.childrenToFinish()[...])) }
    }
  }

  /// Begins the end here alone. The caller becomes a user, so that the last child does not release the environment.
  /// Returns false, and adds no user, where another call has begun the end.
  func finishHere(_ cause: EndCause) -> Bool {
    changeLocked { lifecycle in
      let isFirst = lifecycle.finish(cause)
      if isFirst { lifecycle.enter() }
      return isFirst
    }
  }

  func joinWatch() {
    if core.kind.contains(.watched), let watch = existingExtras?.watch { self.watch(by: watch) }
  }

  /// Whether the environment is a child of a factory none of whose releases needs more than a call, as far as startup
  /// knows.
  var releasesAtOnce: Bool {
    core.extras == nil && core.kind.isDisjoint(with: [.plain, .hosted, .scoped])
      && core.compiledPlan.with { $0.releasesAtOnce }
  }

  /// The scope outcome that the beans of this environment receive.
  var outcome: ScopeOutcome {
    (existingExtras?.scopeFailure ?? existingExtras?.resources?.failure).map { .failed($0) } ?? .completed
  }

  /// Ends lookups here and below, and runs no code of users.
  func close(_ cause: EndCause) {
    changeLocked { $0.close(cause) }
    closeChildren()
  }

  /// Ends lookups in all environments below. No child joins a parent that has closed.
  private func closeChildren() {
    for child in liveChildren { child.close(.parent) }
  }

  /// The counts of all environments that were opened below, live or not, by scope. They are kept up to date, so that
  /// reading them visits no children of factories.
  ///
  /// The beans that children of factories have created are counted at their release. Nil in a child of a factory:
  /// environments opened in it are counted together with those opened in its siblings.
  var countsBelow: [ScopeStatistics]? {
    guard let resources = existingExtras?.resources else { return nil }
    let nested = resources.nested
    let children = resources.plans.map { $0.counts.statistics(of: $0.name) }.filter { $0.opened > 0 }
    return nested.ended.values + children
      + nested.live.values.flatMap { [$0.ownStatistics] + ($0.countsBelow ?? []) }
  }

  /// The number of beans created here so far, each counted once.
  var beanCount: Int { core.lock.withLock { createdBeans } - faceCount }

  /// The counts of this environment alone.
  var ownStatistics: ScopeStatistics {
    var own = ScopeStatistics(scope: name)
    own.opened = 1
    own.finished = isReleased ? 1 : 0
    own.created = beanCount
    own.released = existingExtras?.releasedBeans.load(ordering: .relaxed) ?? 0
    return own
  }

  /// The environments directly below that exist, including those whose end has begun.
  package var liveChildren: [Environment] {
    existingExtras.map { extras in core.lock.withLock { extras.children.all } } ?? []
  }

  package var isReleased: Bool { core.lifecycle.isReleased }

  // MARK: releasing

  /// Releases here, or sends the release to the host. No thread is inside, and none will enter.
  @inline(never)
  func release() {
    if core.kind.isDisjoint(with: [.plain, .hosted]) { releaseHere(onHost: false) } else { postponeRelease() }
  }

  @inline(never)
  private func postponeRelease() {
    core.isPostponed.store(true, ordering: .sequentiallyConsistent)
    // Under the lock: a thread that begins to wait now sees the postponed release, or is seen here.
    core.lock.withLock { core.extras }?.with { $0.wake() }
    guard let host else { return releaseUnlessRead() }
    let isAccepted = host.release { [self] in
      if takeBack() { release(onHost: true) }
    }
    if !isAccepted, takeBack() { release(onHost: false) }
  }

  /// Continues a postponed release, unless a thread still uses a bean of this environment. That thread calls this
  /// method again when its use ends.
  @usableFromInline
  func releaseUnlessRead() {
    guard core.isPostponed.load(ordering: .sequentiallyConsistent) else { return }
    if !HazardPointer.isProtected(Unretained(self)), takeBack() { release(onHost: false) }
  }

  /// Claims a postponed release. Returns true for exactly one of the threads that may run it.
  func takeBack() -> Bool { core.isPostponed.exchange(false, ordering: .sequentiallyConsistent) }

  /// Releases the beans.
  ///
  /// - Parameter onHost: whether the caller runs where the host releases, and can await.
  @inline(never)
  func release(onHost: Bool) { releaseHere(onHost: onHost) }

  /// Releases the beans; inlined, because `release()` calls it for each request.
  @inline(__always)
  private func releaseHere(onHost: Bool) {
    let created = createdBeans
    let left = ResolutionContext.with(Unretained(self), nil) { _ in
      let left = releasePlain(created)
      if left == 0 { releaseSeed() }
      return left
    }
    if left == 0, core.kind.isDisjoint(with: [.plain, .scoped, .owning]) {
      ended(created)
    } else {
      releaseWithCare(left, of: created, onHost: onHost)
    }
  }

  /// Continues a release that `releasePlain` cannot complete: beans are left, or the environment is plain, has a scope
  /// object or holds owned beans.
  @inline(never)
  private func releaseWithCare(_ left: Int, of created: Int, onHost: Bool) {
    let canWait = onHost || !core.kind.contains(.synchronous)
    goOn(
      BeanReleaser(Unretained(self), canWait: canWait, isOnHost: onHost, left: left, of: created), onHost: onHost)
  }

  private func goOn(_ begun: BeanReleaser, onHost: Bool) {
    // The context makes the container see that a callback which shuts this environment down runs inside it.
    let (releaser, pending) = ResolutionContext.with(Unretained(self), nil) { _ in
      var releaser = begun
      let pending = releaser.advance()
      if pending == nil { releaser.finishScopes() }
      return (releaser, pending)
    }
    if let pending { goOn(releaser, after: pending, onHost: onHost) } else { ended(releaser.released) }
  }

  @inline(never)
  private func goOn(_ releaser: BeanReleaser, after pending: BeanReleaser.Pending, onHost: Bool) {
    switch pending {
    case .bean(let ending, let object): continueAsynchronously(releaser, ending, object, onHost: onHost)
    case .place(let scope):
      goOn(in: scope) { [self] in goOn(releaser.inPlace(of: scope, canWait: $0), onHost: onHost) }
    case .nothing: break
    case .scope(let scope):
      let host = scope as? any HostedScope
      extras.awaits { scope.cache.isAwaited && host?.canReleaseHere == true }
      scope.cache.whenFree { [self] in
        extras.awaits(nil)
        goOn(releaser, onHost: onHost)
      }
    }
  }

  /// Continues where a scope releases its beans, or here where that place no longer exists.
  private func goOn(in scope: any HostedScope, _ body: @escaping @Sendable (_ isThere: Bool) -> Void) {
    let extras = extras
    extras.handOver(to: scope, body)
    let isAccepted = scope.release { extras.takeHandedOver(here: false)?(true) }
    if !isAccepted || scope.canReleaseHere { extras.takeHandedOver(here: false)?(false) }
  }

  private func continueAsynchronously(
    _ releaser: BeanReleaser, _ ending: BeanEnding, _ object: ObjectReference, onHost: Bool
  ) {
    let host = releaser.host ?? (onHost ? host : nil)
    // A release on a spare thread needs no other thread.
    if ending.isAsynchronous, let host { extras.awaits { host.canReleaseHere } }
    if host == nil { extras.continueInTask() }
    ending.start(object, at: releaser.site, on: host) { [self] failure, isThere in
      releaser.note(failure)
      extras.awaits(nil)
      guard let host, !isThere else { return goOn(releaser, onHost: onHost) }
      goOn(in: host) { [self] in
        if $0 { goOn(releaser, onHost: onHost) } else { goOnElsewhere(releaser) }
      }
    }
  }

  /// Continues outside the place of any host.
  func goOnElsewhere(_ releaser: BeanReleaser) { goOn(releaser.elsewhere, onHost: false) }

  /// Performs the last step: lets the parent continue and wakes the threads that wait.
  @inline(__always)
  private func ended(_ released: Int) {
    let kind = core.kind
    // A child of a factory has a plan.
    if core.extras != nil || !kind.isDisjoint(with: [.plain, .hosted]) || core.compiledPlan.with({ $0.isTraced }) {
      closeWithCare(released)
    }
    // First: a thread that has waited for this environment finds that the parent no longer waits for it.
    let parent = kind.contains(.joined) ? leaveParent(released) : nil
    // A caller that makes extras from now on finds the environment released: see `whenReleased`.
    let extras = core.lock.withLock {
      core.change { $0.released() }
      return core.extras
    }
    if let extras { extras.with { $0.end() } }
    // Drops the parent's reference, which may be the last one.
    if kind.contains(.joined) { Unretained(self).release() }
    // The last step, because each of a thousand nested environments takes stack here.
    if let parent {
      parent.object.release()
      parent.release()
    }
  }

  /// Performs the rarely needed steps of an end: log, statistics, resources and host.
  @inline(never)
  private func closeWithCare(_ released: Int) {
    if core.kind.contains(.plain) || core.compiledPlan.with({ $0.isTraced }) { log.finished(name, released: released) }
    existingExtras?.releasedBeans.store(released, ordering: .relaxed)
    if let observation = existingExtras?.observation.load() { end(observation, released: released) }
    existingExtras?.resources?.letGo()
    // Before the callbacks: a caller that has waited finds no timer left.
    host?.closed()
  }

  /// Leaves the parent. Returns the parent, retained, if its release has waited for this environment alone.
  @inline(__always)
  private func leaveParent(_ released: Int) -> Unretained<Environment>? {
    // There is a parent: the child has joined it.
    guard let outer = core.parent else { return nil }
    let isLast = outer.with { parent in
      if core.extras != nil { handOverExtras(to: parent, released) }
      if parent.core.kind.contains(.hosted) { parent.used() }
      let own = Unretained(self)
      let (plan, place) = (core.compiledPlan, ScopeCounts.ownPlace)
      return parent.core.lock.withLock {
        parent.core.extras?.with { $0.children.leave(own, plan, released: released, at: place) }
        plan.with { $0.counts.finish(released: released, at: place) }
        return parent.core.change { $0.leave() }
      }
    }
    if !isLast { return nil }
    outer.retain()
    return outer
  }

  /// Adds the counts of environments below to the parent's, and the failures that no other caller will throw.
  @inline(never)
  private func handOverExtras(to parent: Environment, _ released: Int) {
    let extras = extras
    parent.extras.children.add(extras.children.statistics)
    if let below = countsBelow {
      parent.homeResources?.end(nested: self, below + [ScopeStatistics(ended: name, released: released)])
    }
    if parent.core.lifecycle.isFinishing {
      for failure in extras.takeFailures() { parent.extras.record(failure) }
    } else if extras.hasEndedUnawaited {
      parent.extras.record(ofChild: extras.takeFailures())
    }
  }

  /// Records the failure of a release. It does not stop the other releases; the next `shutdown()` throws it.
  func note(_ failure: EnvironmentError) {
    tell(failure)
    countRelease(failing: failure)
    extras.record(failure)
    homeResources?.hook?.failed(failure)
  }

  /// Counts a failed release here and further out, because an environment that ends takes its own counts with it, and
  /// reports the failure to observers.
  func countRelease(failing failure: any Error) {
    for observer in observers { observer.releaseFailed(failure, in: self) }
    var next = Optional(self)
    while let environment = next {
      environment.existingExtras?.resources?.failedReleases.add(1, ordering: .relaxed)
      next = environment.parent
    }
  }

  func tell(_ failure: EnvironmentError) { log.logger.error("'\(name)': \(failure)") }

  // MARK: waiting

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
      let isOurs = host?.canReleaseHere == true
      // Taken from the loop: the work that was sent to the loop finds nothing left to do.
      if isOurs, takeBack() {
        release(onHost: false)
      } else if !canWait || extras.isAwaitedHere || isOurs && core.lifecycle.phase < .releasing {
        // Lookups on other threads, which a release has to wait for, may themselves wait for this one.
        return false
      } else if let work = extras.takeHandedOver(here: true) {
        work(false)
      } else {
        extras.watch?.arm()
        signal.wait()
      }
    }
    return true
  }

  /// Waits for the release of everything here and below, until the watch gives up. Runs no release on the calling
  /// thread: releases that belong to this thread move to spare threads.
  func wait(until watch: EndWatch) {
    whenReleased { watch.end() }
    while !isReleased, !watch.hasGivenUp {
      takeOverFromThisThread()
      watch.signal.wait()
    }
  }

  func throwFailures() throws { try throwFailures(existingExtras?.takeFailures() ?? []) }

  private func throwFailures(_ failures: [any Error]) throws {
    let failure = EnvironmentError.combining(failures, code: .destructionFailed) {
      "\($0) releases failed in environment '\(name)'"
    }
    if let failure { throw failure }
  }

  /// Throws the failures here and below. After the time limit, also throws an error that names the beans that are left.
  func throwFailures(of watch: EndWatch) throws {
    let state = endState(takesFailures: true)
    guard let fault = watch.fault(of: self, state) else { return try throwFailures(state.failures) }
    tell(fault)
    try throwFailures(state.failures + [fault])
  }
}
