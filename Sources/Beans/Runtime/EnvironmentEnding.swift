import BeansLogging
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
  func finishAlone(_ cause: EndCause) -> Bool { endAlone { $0.finish(cause) && $0.releaseIfQuiet() } }

  /// Runs a transition that ends an environment without extras, and releases where the transition returns true. Returns
  /// false, and does nothing, where there are extras.
  @inline(__always)
  func endAlone(_ transition: (inout Lifecycle) -> Bool) -> Bool {
    let (isOver, isAlone) = core.lock.withLock { () -> (Bool, Bool) in
      if core.extras != nil { return (false, false) }
      return (core.change(transition), true)
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
      if last.environment.core.lifecycle.isUnawaited { child.forbidAwaiting() }
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
    if let watch = existingExtras?.watch { self.watch(by: watch) }
  }

  /// Whether the environment is a child of a factory none of whose releases needs more than a call, as far as startup
  /// knows.
  var releasesAtOnce: Bool {
    core.extras == nil && scope.isNone && core.compiledPlan.with { $0.releasesAtOnce }
  }

  /// The scope outcome that the beans of this environment receive.
  var outcome: ScopeOutcome {
    (existingExtras?.scopeFailure ?? resources?.failure).map { .failed($0) } ?? .completed
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
    guard let resources else { return nil }
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
    if isReleased { own.finished = 1 } else { own.open = 1 }
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
    // Nearly always a request.
    if core.extras == nil, scope.isNone { return releaseSlots(onHost: false) }
    if resources == nil, host == nil { release(onHost: false) } else { postponeRelease() }
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
  func release(onHost: Bool) {
    // The resources have scopes, which are finished after the beans.
    if resources == nil, releasesPlainly { return releaseSlots(onHost: onHost) }
    releaseWithCare(createdBeans, of: createdBeans, onHost: onHost)
  }

  /// Whether beans in slots that need at most a call are released one after the other: no `Owned` bean is released in
  /// between, no watch notes each release, and no scope object ends with the environment.
  var releasesPlainly: Bool {
    childScope == nil && core.extras?.with { $0.needsCare.load(ordering: .relaxed) } != true
  }

  /// Releases the beans in slots; inlined, because `release()` calls it for each request.
  @inline(__always)
  private func releaseSlots(onHost: Bool) {
    let created = createdBeans
    let left = ResolutionContext.with(Unretained(self), nil) { _ in
      let left = releasePlain(created)
      if left == 0 { releaseSeed() }
      return left
    }
    if left == 0 { ended(created) } else { releaseWithCare(left, of: created, onHost: onHost) }
  }

  /// Continues a release that `releasePlain` cannot complete.
  @inline(never)
  private func releaseWithCare(_ left: Int, of created: Int, onHost: Bool) {
    BeanReleaser(self, at: onHost ? host : nil, left: left, of: created).walk()
  }

  /// Performs the last step: lets the parent continue and wakes the threads that wait.
  @inline(__always)
  func ended(_ released: Int) {
    // An environment without extras is a child of a factory, which has a plan.
    if core.extras != nil || host != nil || core.compiledPlan.with({ $0.isTraced }) { closeWithCare(released) }
    // First: a thread that has waited for this environment finds that the parent no longer waits for it.
    let hasParent = core.isAmongChildren
    let parent = hasParent ? leaveParent(released) : nil
    // A caller that makes extras from now on finds the environment released: see `whenFinished`.
    let extras = core.lock.withLock {
      core.change { $0.released() }
      return core.extras
    }
    if let extras { extras.with { $0.end() } }
    // Drops the parent's reference, which may be the last one.
    if hasParent { Unretained(self).release() }
    // The last step, because each of a thousand nested environments takes stack here.
    if let parent {
      parent.object.release()
      parent.release()
    }
  }

  /// Performs the rarely needed steps of an end: log, statistics, resources and host.
  @inline(never)
  private func closeWithCare(_ released: Int) {
    if resources != nil || core.compiledPlan.with({ $0.isTraced }) { log.finished(name, released: released) }
    existingExtras?.releasedBeans.store(released, ordering: .relaxed)
    existingExtras?.observation.load()?.end(of: self, released: released)
    resources?.letGo()
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
      parent.used()
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
      parent.extras.add(extras.takeFailures())
    } else if extras.hasEndedUnawaited {
      // The parent may live long and have many children.
      parent.extras.add(extras.takeFailures(), upTo: 1_000)
    }
  }

  /// Records the failure of a release. It does not stop the other releases; the next `shutdown()` throws it.
  func note(_ failure: EnvironmentError) {
    tell(failure)
    countRelease(failing: failure)
    extras.add([failure])
    homeResources?.hook?.failed(failure)
  }

  /// Counts a failed release here and further out, because an environment that ends takes its own counts with it, and
  /// reports the failure to observers.
  func countRelease(failing failure: any Error) {
    for observer in observers { observer.releaseFailed(failure, in: self) }
    for resources in resourcesOutwards { resources.failedReleases.add(1, ordering: .relaxed) }
  }

  /// Writes the failure of a release, with the metadata of the environment: the thread may be in none.
  func tell(_ failure: EnvironmentError) {
    log.logger.error("'\(name)': \(failure)", metadata: LoggedEnvironment(self).metadata)
  }

  // MARK: beans that need at most a call

  /// Releases beans from the end of the first `count` in the creation log, up to one that needs care or an asynchronous
  /// release, where the environment releases plainly. Returns the number of beans left.
  @inline(__always)
  func releasePlain(_ count: Int) -> Int {
    if count == 0 { return 0 }
    let (slots, recipes) = (core.slots, recipe(0))
    // All built beans are logged by now. The slots keep their content: no thread reads them any more.
    if core.compiledPlan.with({ $0.isSilent.load(ordering: .relaxed) }) {
      return creationLog.last(count) { index in
        slots[index].content.object.release()
        return true
      }
    }
    return creationLog.last(count) { index in
      let recipe = recipes.advanced(by: Int(index))
      // A bean that is kept elsewhere than in its slot needs care.
      let isSilent = recipe.value.ending == .nothing
      if !isSilent, recipe.value.ending == .care { return false }
      let object = slots[index].content.object
      if object.identity != recipe.value.identity, !isSilent || !isPlain(object.beanType, recipe) { return false }
      if !isSilent { call(object, recipe) }
      object.release()
      return true
    }
  }

  /// Whether a release may have to be awaited.
  @inline(__always)
  var mayAwait: Bool {
    core.extras != nil || core.compiledPlan.with { !$0.isSilent.load(ordering: .relaxed) }
  }

  /// The bean released first among those whose release the calling thread would have to await; nil where a host releases.
  @inline(never)
  var awaitedBean: BeanDefinition? {
    // The thread of a host waits for no task of its own.
    if let host, !host.canReleaseHere { return nil }
    if let owned = existingExtras?.awaitedBean { return owned }
    let (slots, recipes) = (core.slots, recipe(0))
    var found: BeanDefinition?
    _ = core.lock.withLock { creationLog }.last(createdBeans) { index in
      let (recipe, content) = (recipes.advanced(by: Int(index)), slots[index].content)
      guard content.isFilled else { return true }
      let isKnown = content.object.identity == recipe.value.identity
      if isKnown, recipe.value.ending != .care { return true }
      if content.object.with({ BeanEnding($0, of: recipe)?.isAsynchronous == true }), !isFace(index) {
        found = recipe.value.definition
      }
      return found == nil
    }
    return found
  }

  @inline(__always)
  func releaseSeed() {
    guard let plan = core.plan else { return }
    let treatment = plan.with { $0.seedRelease }
    if treatment == .plain {
      let seed = core.slots[0].content
      if seed.isFilled {
        core.slots[0].store(.empty)
        seed.object.release()
      }
    } else if treatment == .locked {
      LoggedEnvironment(self).releaseSeed()
    }
  }

  /// Calls `preDestroy` and the callbacks of a bean that has no asynchronous release.
  @inline(never)
  private func call(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) {
    var errors: [any Error] = []
    object.with { instance in
      if let layout = recipe.value.disposable {
        do { try layout.value(ObjectReference(instance), as: (any DisposableBean).self).preDestroy() } catch {
          errors.append(error)
        }
      }
      recipe.value.code.with { code in
        if code.options.onDestroys.isEmpty { return }
        let outcome = outcome
        for callback in code.options.onDestroys {
          do { try callback(instance, outcome) } catch { errors.append(error) }
        }
      }
    }
    if !errors.isEmpty, let failure = BeanEnding.failure(errors, of: recipe.value.definition) { note(failure) }
  }
}
