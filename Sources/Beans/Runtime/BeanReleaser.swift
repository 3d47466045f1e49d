@_spi(BeansPackage) import BeansErrors

/// Releases the beans of one environment: one walk over the creation log, last created first.
struct BeanReleaser {
  private let environment: Environment
  /// Whether asynchronous releases of the environment's own beans can be awaited.
  private let canAwait: Bool
  /// The scope in whose place beans are released now; nil for any thread.
  private var place: (any HostedScope)?
  /// Whether the walk runs in that place, which then can await releases; false where another thread does its work.
  private var isThere: Bool
  /// The number of beans not yet released.
  private var rest: Int
  /// The bean whose release pauses the walk, retained until that release has ended.
  private var held: ObjectReference?
  /// The `Owned` beans that their takers have not released, in order of creation.
  private var owned: [OwnedBean]
  /// The identities of the users' scopes that have been finished.
  private var finished: [ObjectIdentifier] = []
  private var released: Int

  /// A step that ends before the walk continues.
  private enum Step {
    /// A release that has to be awaited.
    case release(BeanRelease)
    /// A change to the place where a user's scope releases.
    case place(any HostedScope)
  }

  /// - Parameters:
  ///   - environment: the environment whose release has begun.
  ///   - host: the environment's own host, if this runs where it releases beans.
  ///   - left: the number of beans in the creation log that have not been released.
  ///   - created: the number of all beans in the creation log.
  init(_ environment: Environment, at host: (any HostedScope)?, left: Int, of created: Int) {
    self.environment = environment
    canAwait = host != nil || !environment.core.lifecycle.isUnawaited
    place = host
    isThere = host != nil
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
    case .release(let release):
      if release.host == nil { environment.extras.record.withLock { $0.continuesInTask = true } }
      release.start { failure, hasEnded in
        if let failure { environment.note(failure) }
        // A release that hangs there keeps the thread of the place.
        let isFree = hasEnded || release.disposal != .onLoop
        if let host = release.host, isFree { rest.walk(in: host) } else { rest.walk(at: nil, isThere: false) }
      }
    }
  }

  /// Walks in the place of a scope, or here where that place no longer exists.
  private func walk(in host: any HostedScope) {
    environment.extras.handOver(to: host) { walk(at: host, isThere: $0) }
  }

  private func walk(at place: (any HostedScope)?, isThere: Bool) {
    var releaser = self
    (releaser.place, releaser.isThere) = (place, isThere)
    releaser.walk()
  }

  /// Releases beans until a step has to end first, or until no bean is left.
  private mutating func advance() -> Step? {
    held.take()?.release()
    while true {
      // An `Owned` bean may need the beans that existed when it was made.
      while let last = owned.last, last.position >= rest {
        owned.removeLast()
        if let (object, ending) = last.take(), let step = release(object, ending) { return step }
      }
      if rest == 0 { break }
      // A watch may come at any time.
      if environment.releasesPlainly {
        let left = environment.releasePlain(rest)
        released += rest - left
        rest = left
      }
      if rest > 0, let step = releaseNext() { return step }
    }
    environment.releaseSeed()
    finishScopes()
    return nil
  }

  private mutating func releaseNext() -> Step? {
    let index = environment.creationLog[rest - 1]
    let (slot, recipe) = (environment.core.slots[index], environment.recipe(index))
    let content = slot.content
    let keeper: (any BeanScope)? = if content.isKept { ScopedBean(recipe, in: environment).scope } else { nil }
    if keeper is AbstractBeanScope, let host = keeper as? any HostedScope, place !== host { return .place(host) }
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
    if environment.resources != nil { recipe.value.code.with { $0.instance?.letGo() } }
    return release(object, object.with { BeanEnding($0, of: recipe, in: environment) })
  }

  /// Releases an object, unless its release has to be awaited.
  ///
  /// - Parameter isOfScope: whether a user's scope has kept the object, and the walk is in the place of that scope.
  private mutating func release(_ object: ObjectReference, _ ending: BeanEnding?, isOfScope: Bool = false) -> Step? {
    if let ending {
      var host: (any HostedScope)?
      if isThere { host = place }
      let release = BeanRelease(
        ending, object, at: environment.name, environment, environment.outcome, behind: rest, on: host,
        canAwait: canAwait || isOfScope && host != nil)
      if release.isAwaited {
        held = object
        return .release(release)
      }
      if let failure = release.run() { environment.note(failure) }
    }
    object.release()
    return nil
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

  /// Releases a bean of a user's scope. A scope that releases all of its beans at once does so in the place of the last
  /// bean in the order.
  private mutating func releaseInScope(_ user: any BeanScope, _ recipe: FrozenReference<Recipe>) -> Step? {
    guard let scope = user as? AbstractBeanScope else {
      // The environment that registered the scope finishes it.
      if environment.ownScopes.contains(where: { $0 === user }) { finish(user) }
      return nil
    }
    guard let declaration = recipe.value.code.with({ $0.declaration }), let object = scope.cache.take(declaration)
    else { return nil }
    return release(object, object.with { BeanEnding($0, of: declaration) }, isOfScope: true)
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
      environment.extras.add([failure])
    }
  }
}
