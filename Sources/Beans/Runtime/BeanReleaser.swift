/// Releases the beans of one environment: one walk over the creation log, last created first.
struct BeanReleaser {
  private let environment: Environment
  /// Whether asynchronous releases of the environment's own beans can be awaited.
  private let canAwait: Bool
  /// The place of the beans that are released now; nil for any thread.
  private var place: Place?
  /// The number of beans not yet released.
  private var rest: Int
  /// The bean that is being released, retained until its release has ended, and the user's scope that has kept the
  /// bean.
  private var held: (object: ObjectReference, scope: AbstractBeanScope?)?
  /// The `Owned` beans that their takers have not released, in order of creation.
  private var owned: [OwnedBean]
  /// The identities of the users' scopes that have been finished.
  private var finished: [ObjectIdentifier] = []
  private var released: Int

  /// The place of a scope.
  private struct Place {
    let host: any HostedScope
    /// Whether the walk runs there, so that the place can await releases; false where another thread does its work.
    let isThere: Bool
  }

  /// A step that ends before the walk continues.
  private enum Step {
    /// A release that has to be awaited.
    case release(BeanEnding, ObjectReference, ReleaseSite, Disposal)
    /// A change to the place where a user's scope releases.
    case place(any HostedScope)
    /// A release that a user's scope has begun by itself.
    case scope(AbstractBeanScope)
  }

  /// - Parameters:
  ///   - environment: the environment whose release has begun.
  ///   - host: the environment's own host, if this runs where it releases beans.
  ///   - left: the number of beans in the creation log that have not been released.
  ///   - created: the number of all beans in the creation log.
  init(_ environment: Environment, at host: (any HostedScope)?, left: Int, of created: Int) {
    self.environment = environment
    canAwait = host != nil || !environment.core.kind.contains(.synchronous)
    place = host.map { Place(host: $0, isThere: true) }
    rest = left
    released = created - left
    owned = environment.existingExtras?.takeOwned() ?? []
  }

  /// Walks on this thread, up to a step that has to be awaited or belongs elsewhere, and continues after it. Ends the
  /// environment when no bean is left.
  func walk() {
    // The context makes the container see that a callback which shuts the environment down runs inside it.
    let (rest, step) = ResolutionContext.with(Unretained(environment), nil) { _ in
      var rest = self
      let step = rest.advance()
      return (rest, step)
    }
    switch step {
    case nil: environment.ended(rest.released)
    case .place(let host): rest.walk(in: host)
    case .scope(let scope):
      let (extras, host) = (environment.extras, scope as? any HostedScope)
      extras.awaits { scope.cache.isAwaited && host?.canReleaseHere == true }
      scope.cache.whenFree {
        extras.awaits(nil)
        rest.walk()
      }
    case .release(let ending, let object, let site, let disposal):
      let (extras, host) = (environment.extras, host)
      // A release on a spare thread needs no other thread.
      if disposal == .awaited, ending.isAsynchronous, let host { extras.awaits { host.canReleaseHere } }
      if host == nil { extras.continueInTask() }
      ending.start(object, at: site, disposal, on: host) { failure, hasEnded in
        if let failure { environment.note(failure) }
        extras.awaits(nil)
        // A release that hangs there keeps the thread of the place.
        let isFree = hasEnded || disposal != .onLoop
        if let host, isFree { rest.walk(in: host) } else { rest.walk(at: nil) }
      }
    }
  }

  /// The place where this runs, which can await releases; nil for any thread.
  private var host: (any HostedScope)? {
    guard let place, place.isThere else { return nil }
    return place.host
  }

  /// Walks in the place of a scope, or here where that place no longer exists.
  private func walk(in host: any HostedScope) {
    environment.extras.handOver(to: host) { walk(at: Place(host: host, isThere: $0)) }
  }

  private func walk(at place: Place?) {
    var releaser = self
    releaser.place = place
    releaser.walk()
  }

  /// Releases beans until a step has to end first, or until no bean is left.
  private mutating func advance() -> Step? {
    letGoOfHeld()
    while true {
      // An `Owned` bean may need the beans that existed when it was made.
      while let last = owned.last, last.position >= rest {
        owned.removeLast()
        if let (object, ending) = last.take(), let step = release(object, ending) { return step }
      }
      if rest == 0 { break }
      let left = environment.releasePlain(rest)
      released += rest - left
      rest = left
      if left > 0, let step = releaseNext() { return step }
    }
    environment.releaseSeed()
    finishScopes()
    return nil
  }

  private mutating func releaseNext() -> Step? {
    let index = environment.creationLog[rest - 1]
    let (slot, recipe) = (environment.core.slots[index], environment.recipe(index))
    let content = slot.content
    let keeper = content.isKept ? ScopedBean(recipe, in: environment).scope : nil
    if let scope = keeper as? AbstractBeanScope, let step = stepBefore(release: scope) { return step }
    rest -= 1
    released += 1
    slot.store(.empty)
    if let keeper { return releaseInScope(keeper, recipe) }
    guard content.isFilled else { return nil }
    let object = content.object
    if environment.isFace(index) {
      released -= 1
      object.release()
      return nil
    }
    if recipe.value.work.contains(.trace) {
      environment.log.releasing(recipe.value.definition.label, in: environment.name)
    }
    if recipe.value.work.contains(.observe) { observe(object, recipe) }
    // The children of a factory share declared instances.
    if environment.core.kind.contains(.plain) { recipe.value.code.with { $0.instance?.letGo() } }
    return release(object, object.with { BeanEnding($0, of: recipe, in: environment) })
  }

  /// Releases an object, unless its release has to be awaited.
  ///
  /// - Parameter scope: the user's scope that has kept the object, and whose release has begun.
  private mutating func release(
    _ object: ObjectReference, _ ending: BeanEnding?, keptBy scope: AbstractBeanScope? = nil
  ) -> Step? {
    held = (object, scope)
    if let ending {
      let (site, isOnLoop) = (site, host != nil)
      let canAwait = canAwait || scope != nil && isOnLoop
      let disposal = Disposal(of: ending, at: site, isOnLoop: isOnLoop, canAwait: canAwait)
      if disposal == .awaited || disposal == .onLoop { return .release(ending, object, site, disposal) }
      if let failure = ending.run(object, at: site) { environment.note(failure) }
    }
    letGoOfHeld()
    return nil
  }

  @inline(never)
  private mutating func letGoOfHeld() {
    guard let (object, scope) = held else { return }
    held = nil
    object.release()
    scope?.cache.endRelease()
  }

  /// The site of the next release, for reports and limits.
  private var site: ReleaseSite {
    ReleaseSite(
      name: environment.name, environment: environment, outcome: environment.outcome, behind: rest)
  }

  /// Reports an object to a test before the container drops its reference. Omits values, instances that were handed in,
  /// and externally owned beans.
  private func observe(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>) {
    guard let hook = environment.homeResources?.hook,
      recipe.value.code.with({ $0.instance == nil && !$0.options.isExternallyOwned })
    else { return }
    let bean = recipe.value.definition
    object.with { instance in
      let value = Box.open(instance)
      guard type(of: value) is AnyObject.Type else { return }
      hook.released(value as AnyObject, bean, in: environment.name)
    }
  }

  // MARK: users' scopes

  /// Begins a release of a user's scope, in the place of the scope. Returns the step that has to come first, if there is
  /// one.
  private func stepBefore(release scope: AbstractBeanScope) -> Step? {
    if let host = scope as? any HostedScope, place?.host !== host { return .place(host) }
    if scope.cache.beginRelease() { return nil }
    return .scope(scope)
  }

  /// Releases a bean of a user's scope. A scope that releases all of its beans at once does so in the place of the last
  /// bean in the order.
  private mutating func releaseInScope(_ user: any BeanScope, _ recipe: FrozenReference<Recipe>) -> Step? {
    guard let scope = user as? AbstractBeanScope else {
      // The environment that registered the scope finishes it.
      if environment.ownScopes.contains(where: { $0 === user }) { finish(user) }
      return nil
    }
    guard let declaration = recipe.value.code.with({ $0.declaration }), let instance = scope.cache.take(declaration)
    else {
      scope.cache.endRelease()
      return nil
    }
    return release(ObjectReference(instance), BeanEnding(instance, of: declaration), keptBy: scope)
  }

  /// Finishes the registered scopes that have not been finished, last registered first, or the child's scope object.
  private mutating func finishScopes() {
    environment.childScope?.finish()
    for scope in environment.ownScopes.reversed() { finish(scope) }
  }

  private mutating func finish(_ scope: any BeanScope) {
    let key = ObjectIdentifier(scope)
    if finished.contains(key) { return }
    finished.append(key)
    scope.finish()
    for failure in (scope as? AbstractBeanScope)?.cache.takeFailures() ?? [] {
      environment.countRelease(failing: failure)
      environment.extras.record([failure])
    }
  }
}
