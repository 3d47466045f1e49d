import Synchronization

/// Releases beans: one walk over the creation log, last created first, that stops at a release that has to be awaited.
struct BeanReleaser {
  /// The environment, retained by the code that runs this releaser.
  private let environment: Unretained<Environment>
  /// Whether asynchronous releases are returned to be awaited, instead of failing.
  private let canWait: Bool
  /// Whether this runs where the environment's own host releases beans.
  private var isOnHost: Bool
  /// The number of beans not yet released.
  private var rest: Int
  /// The bean that is being released, retained until its release has ended, and the user's scope that has kept the
  /// bean.
  private var held: ObjectReference?
  private var heldScope: AbstractBeanScope?
  /// The user's scope in whose place this runs, and whether that place can await releases.
  private var place: (scope: any HostedScope, canWait: Bool)?
  /// The `Owned` beans that their takers have not released, in order of creation.
  private var owned: [OwnedBean] = []
  /// The identities of the users' scopes that have been finished.
  private var finished: [ObjectIdentifier] = []
  private(set) var released: Int

  /// A step that has to end before the walk continues.
  enum Pending {
    /// An asynchronous release.
    case bean(BeanEnding, ObjectReference)
    /// A change to the place where a user's scope releases.
    case place(any HostedScope)
    /// A release that a user's scope has begun by itself.
    case scope(AbstractBeanScope)
    /// None: a release has been abandoned, and another thread continues the walk.
    case nothing
  }

  /// - Parameters:
  ///   - environment: the environment whose release has begun.
  ///   - canWait: whether asynchronous releases can be awaited.
  ///   - isOnHost: whether this runs where the environment's own host releases beans.
  ///   - left: the number of beans in the creation log that have not been released.
  ///   - created: the number of all beans in the creation log.
  init(_ environment: Unretained<Environment>, canWait: Bool, isOnHost: Bool, left: Int, of created: Int) {
    self.environment = environment
    self.canWait = canWait
    self.isOnHost = isOnHost
    rest = left
    released = created - left
    owned = environment.with {
      $0.core.kind.contains(.owning) ? $0.extras.takeOwned().compactMap { $0 as? OwnedBean } : []
    }
  }

  /// Continues the walk until a step has to end first, or until no bean is left. Once that step has ended, call
  /// `advance` again; after an awaited release, first pass its failure to `note`.
  mutating func advance() -> Pending? {
    if held != nil { letGoOfHeld() }
    while true {
      // An `Owned` bean may need the beans that existed when it was made.
      while let last = owned.last, last.position >= rest {
        owned.removeLast()
        if let pending = release(last) { return pending }
      }
      if rest == 0 { break }
      let left = environment.with { $0.releasePlain(rest) }
      released += rest - left
      rest = left
      if left > 0, let pending = releaseNext() { return pending }
    }
    environment.with { $0.releaseSeed() }
    return nil
  }

  private mutating func release(_ owned: OwnedBean) -> Pending? {
    guard let (object, ending) = owned.take() else { return nil }
    guard let ending = ending?.with(outcome) else {
      object.release()
      return nil
    }
    held = object
    return release(ending, object, canWait: canWait)
  }

  private mutating func releaseNext() -> Pending? {
    rest -= 1
    released += 1
    return environment.with { environment in
      let index = environment.creationLog[rest]
      let slot = environment.core.slots[index]
      return releaseWithCare(index, slot, slot.content, environment.recipe(index))
    }
  }

  @inline(never)
  private mutating func releaseWithCare(
    _ index: Int32, _ slot: Slot, _ content: Slot.Content, _ recipe: FrozenReference<Recipe>
  ) -> Pending? {
    let environment = environment.object
    if content.isKept { return releaseInScope(slot, recipe, environment) }
    guard content.isFilled else { return nil }
    slot.store(.empty)
    let object = content.object
    if environment.isFace(index) {
      released -= 1
      object.release()
      return nil
    }
    if recipe.value.work.contains(.trace) {
      environment.log.releasing(recipe.value.definition.label, in: environment.name)
    }
    if recipe.value.work.contains(.observe) { environment.observe(object, recipe) }
    // The children of a factory share declared instances.
    if environment.core.kind.contains(.plain) { recipe.value.code.with { $0.instance?.letGo() } }
    if let ending = object.with({ BeanEnding($0, of: recipe, outcome, in: environment) }) {
      held = object
      return release(ending, object, canWait: canWait)
    }
    object.release()
    return nil
  }

  /// Releases `held` as the disposer decides.
  @inline(never)
  private mutating func release(_ ending: BeanEnding, _ object: ObjectReference, canWait: Bool) -> Pending? {
    let site = site
    switch Disposer(ending, at: site, isOnLoop: isOnLoop, canAwait: canWait).next() {
    case .await: return .bean(ending, object)
    case .releaseOnLoop:
      let rest = self
      object.retain()
      let end = site.begin(ending) { _ in rest.environment.object.goOnElsewhere(rest) }
      let failure = object.with { ending.runSynchronously($0) }
      object.release()
      guard end() else {
        held = nil
        return .nothing
      }
      note(failure)
    case .release, .releaseAside, .goToScope, .waitForScope: note(ending.run(object, at: site))
    }
    letGoOfHeld()
    return nil
  }

  /// The outcome of the environment, for its beans.
  private var outcome: ScopeOutcome { environment.with { $0.outcome } }

  /// The site of the next release, for reports and limits.
  var site: ReleaseSite {
    let environment = environment.object
    return ReleaseSite(name: environment.name, environment: environment, behind: rest)
  }

  /// Whether this runs on the thread of the loop on which beans are released.
  private var isOnLoop: Bool { isOnHost || place?.canWait == true }

  /// A copy of this releaser that continues outside the place of any host.
  var elsewhere: BeanReleaser {
    var releaser = self
    (releaser.isOnHost, releaser.place) = (false, nil)
    return releaser
  }

  func note(_ failure: EnvironmentError?) {
    guard let failure else { return }
    environment.with { $0.note(failure) }
  }

  // MARK: users' scopes

  /// Releases a bean of a user's scope in the scope's place. A scope that releases all of its beans at once does so in
  /// the place of the last bean in the order.
  private mutating func releaseInScope(
    _ slot: Slot, _ recipe: FrozenReference<Recipe>, _ environment: Environment
  ) -> Pending? {
    let user = ScopedBean(recipe, in: environment).scope
    guard let scope = user as? AbstractBeanScope, let declaration = recipe.value.code.with({ $0.declaration }) else {
      slot.store(.empty)
      // The environment that registered the scope finishes it.
      if let user, environment.ownScopes.contains(where: { $0 === user }) { finish(user) }
      return nil
    }
    let host = scope as? any HostedScope
    let isHere = host == nil || place?.scope === host
    let keeper = Disposer.Keeper.scope(isHere: isHere, isFree: isHere && scope.cache.beginRelease())
    switch Disposer(keeper: keeper).next() {
    case .goToScope: return host.flatMap { again(after: .place($0)) }
    case .waitForScope: return again(after: .scope(scope))
    default: break
    }
    slot.store(.empty)
    guard let instance = scope.cache.take(declaration) else {
      scope.cache.endRelease()
      return nil
    }
    let object = ObjectReference(instance)
    (held, heldScope) = (object, scope)
    guard let ending = BeanEnding(instance, of: declaration, outcome) else {
      letGoOfHeld()
      return nil
    }
    return release(ending, object, canWait: canWait || place?.canWait == true)
  }

  /// Returns to the same bean after a step.
  private mutating func again(after pending: Pending) -> Pending {
    rest += 1
    released -= 1
    return pending
  }

  @inline(never)
  private mutating func letGoOfHeld() {
    held?.release()
    held = nil
    let scope = heldScope
    heldScope = nil
    scope?.cache.endRelease()
  }

  /// Returns a copy of this releaser that continues in the place of a user's scope.
  func inPlace(of scope: any HostedScope, canWait: Bool) -> BeanReleaser {
    var releaser = self
    releaser.place = (scope, canWait)
    return releaser
  }

  /// The user's scope that awaits releases in the current place.
  var host: (any HostedScope)? { place.flatMap { $0.canWait ? $0.scope : nil } }

  /// Finishes the registered scopes that have not been finished, last registered first, or the child's scope object.
  mutating func finishScopes() {
    environment.object.childScope?.finish()
    for scope in environment.object.ownScopes.reversed() { finish(scope) }
  }

  private mutating func finish(_ scope: any BeanScope) {
    let key = ObjectIdentifier(scope)
    if finished.contains(key) { return }
    finished.append(key)
    scope.finish()
    for failure in (scope as? AbstractBeanScope)?.cache.takeFailures() ?? [] {
      environment.with {
        $0.countRelease(failing: failure)
        $0.extras.record(failure)
      }
    }
  }
}

extension Environment {
  /// Releases beans from the end of the first `count` in the creation log, up to one that needs care or an asynchronous
  /// release. Returns the number of beans left.
  @inline(__always)
  func releasePlain(_ count: Int) -> Int {
    // `Owned` beans are released in between. A watched end notes each release.
    if count == 0 || !core.kind.isDisjoint(with: .careful) { return count }
    let (slots, recipes) = (core.slots, recipe(0))
    // All built beans are logged by now. The slots keep their content: no thread reads them any more.
    if core.compiledPlan.with({ $0.isSilent.load(ordering: .relaxed) }) {
      return creationLog.last(count) { index in
        slots[index].content.object.release()
        return true
      }
    }
    return creationLog.last(count) { index in
      let recipe = recipes.sibling(index, of: 0)
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
      let (recipe, content) = (recipes.sibling(index, of: 0), slots[index].content)
      guard content.isFilled else { return true }
      let isKnown = content.object.identity == recipe.value.identity
      if isKnown, recipe.value.ending != .care { return true }
      if content.object.with({ BeanEnding.isAwaited($0, recipe) }), !isFace(index) { found = recipe.value.definition }
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
