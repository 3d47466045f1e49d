import Synchronization
import BeansLogging
@_spi(BeansPackage) import BeansErrors

/// A bean of a scope object or of a registered scope, which decides at every lookup; as a factory, it builds the bean
/// for the scope.
struct ScopedBean: BeanFactory {
  /// The environment that declares the bean.
  let environment: Environment
  let recipe: FrozenReference<Recipe>
  /// Whether the environment is a child that keeps the bean for its scope object.
  fileprivate let isOfChild: Bool

  init(_ recipe: FrozenReference<Recipe>, in environment: Environment, isOfChild: Bool = false) {
    (self.environment, self.recipe, self.isOfChild) = (environment, recipe, isOfChild)
  }

  /// The scope that decides about the bean: the nearest registered scope of that name, the last of several.
  var scope: (any BeanScope)? {
    guard case .scope(let name) = recipe.value.node.with({ $0.lifetime }) else { return nil }
    var next = Optional(Unretained(environment))
    while let environment = next {
      if let found = environment.with({ $0.core.extras?.with { $0.resources?.scope(named: name) } ?? nil }) {
        return found
      }
      next = environment.with { $0.core.parent }
    }
    return nil
  }

  /// Returns the scope, and the declaration by which it knows the bean.
  @inline(__always)
  private func known() throws -> (any BeanScope, BeanDeclaration) {
    if let scope, let declaration = recipe.value.code.with({ $0.declaration }) { return (scope, declaration) }
    throw recipe.value.definition.fault(.unknownScope, "no scope is called '\(recipe.value.definition.lifetime.name)'")
  }

  /// Calls `prepare` of the scope; called once for each bean.
  func prepare() throws {
    let (scope, declaration) = try known()
    try scope.prepare(bean: declaration, factory: self)
  }

  /// Returns the object that the scope returns, retained for the caller.
  func askScope() throws -> ObjectReference {
    let (scope, declaration) = try known()
    if ResolutionContext.isBuilding(recipe, in: environment) { throw environment.circle(closing: recipe) }
    let object = try scope.get(bean: declaration, factory: self)
    environment.noteForTaker(object, of: scope)
    // From here on, the object of a user's scope is read as the bean's type.
    let type: Any.Type = type(of: object)
    if ObjectIdentifier(type) == recipe.value.identity { return ObjectReference(object) }
    let bean = recipe.value.definition
    var isFitting = recipe.value.identity == Recipe.unknownClass && object is Box
    if bean.type is AnyObject.Type { isFitting = TypeRelation.isUsable(type, as: bean.type) }
    if isFitting { return ObjectReference(object) }
    throw bean.fault(
      .otherScopedBean, "scope '\(scope.name)' returned a \(Swift.type(of: Box.open(object))) for \(bean.label)")
  }

  func create(_ bean: BeanDeclaration) throws -> AnyObject {
    try environment.using {
      try check(bean)
      if isOfChild { return try environment.bean(recipe.value.slot).take(as: AnyObject.self) }
      let (made, isFace) = try environment.buildUntracked(recipe)
      let object = made.take(as: AnyObject.self)
      if isFace { bean.note(face: object) } else { noteKept() }
      return object
    }
  }

  /// Rejects a bean other than the one that the scope has been asked for.
  private func check(_ bean: BeanDeclaration) throws {
    if bean === recipe.value.code.with({ $0.declaration }) { return }
    let (scope, label) = (recipe.value.definition.lifetime.name, recipe.value.definition.label)
    throw EnvironmentError(
      .invalidDeclaration, "scope '\(scope)' asked the factory of \(label) for another bean",
      origin: bean.spec.location.origin)
  }

  /// The environment, where the bean is in its creation log.
  fileprivate var keeper: Environment? {
    if environment.core.slots[recipe.value.slot].content.isKept { return environment }
    return nil
  }

  /// Appends the bean to the creation log when the scope first receives it.
  private func noteKept() {
    environment.core.lock.withLock {
      let slot = environment.core.slots[recipe.value.slot]
      if !slot.content.isEmpty { return }
      slot.store(.kept)
      environment.creationLog.append(recipe.value.slot)
    }
  }
}

/// A complete scope: registered, it keeps one instance of each of its beans, and releases them in reverse order of creation
/// on `finish()`; as a factory's scope object, it is the life of one child.
///
/// A subclass only needs a name. A scope that decides otherwise at each lookup conforms to `BeanScope` itself, and cannot be
/// a factory's scope object. Creation is single-flight for each bean; no lock is held while a bean is built.
open class AbstractBeanScope: BeanScope, ChildScope, @unchecked Sendable {  // all state is atomic or behind a lock
  /// The scope's name in declarations.
  public let name: String
  private let existingCache = Locked<Cache?>(nil)
  private let isTaken = Atomic(false)

  /// Creates a scope with a name.
  public init(name: String) { self.name = name }

  /// Does nothing; override to create beans early, with `get`.
  open func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}

  /// Returns the kept instance, or builds a new one and keeps it; in `prepare` of a factory's scope object, the instance of
  /// the child.
  ///
  /// - Throws: `.finished` once the scope has been finished; the errors of building the bean.
  public final func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
    // Only the scope object of a child has another factory: a dynamic cast costs a third of a lookup.
    if isTaken.load(ordering: .relaxed), (factory as? ScopedBean)?.isOfChild == true { return try factory.create(bean) }
    defer { noteLookup() }
    return try cache.get(bean, factory, in: name)
  }

  /// Notes a lookup in a registered scope. For scopes that measure times.
  @_spi(BeansPackage) open func noteLookup() {}

  /// Ends the child to which the scope belongs, if there is one, and releases the kept instances, last created first. A
  /// `HostedScope` releases them in its own place. Failures are logged and thrown by the environment's `shutdown()`.
  ///
  /// The release of an environment waits for this. Once it has begun, it releases its beans in their places by itself.
  open func finish() {
    cache.child?.finish()
    if cache.close() { cache.releaseAll(of: self) }
  }

  /// Marks the scope as that of a child, permanently. Returns false where it has been marked before.
  func mark() -> Bool {
    isTaken.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
  }

  /// Makes the scope the life of a child without a host. Returns false for a scope that keeps beans already.
  func attach(_ child: Environment) -> Bool {
    existingCache.withLock { cache in
      if cache != nil { return false }
      cache = Cache(of: child)
      return true
    }
  }

  /// The instances that a registered scope keeps, made on demand. The life of a child keeps none.
  var cache: Cache {
    existingCache.withLock { cache in
      if let cache { return cache }
      let made = Cache()
      cache = made
      return made
    }
  }

  /// The instances of one scope, by bean. No user's code runs under the lock; threads that lose the race for an instance
  /// wait on Dispatch.
  final class Cache: Sendable {
    private let state: Locked<State>

    private struct State {
      var instances = [ObjectIdentifier: Kept]()
      var builds = [ObjectIdentifier: Flight]()
      /// The keys of kept instances, and of instances that have been taken out alone, oldest first.
      var order: [ObjectIdentifier] = []
      var failures: [any Error] = []
      var isClosed = false
    }

    /// The child of which the scope is the life.
    weak let child: Environment?

    init(of child: Environment? = nil) {
      self.child = child
      state = Locked(State(isClosed: child != nil))
    }

    private final class Kept: @unchecked Sendable {  // immutable; the scope decides which threads use the instance
      let bean: BeanDeclaration
      let instance: AnyObject
      /// The environment that has the bean in its creation log; nil for another face of a bean, which has no release.
      weak let environment: Environment?

      init(_ bean: BeanDeclaration, _ instance: AnyObject, _ environment: Environment?) {
        (self.bean, self.instance, self.environment) = (bean, instance, environment)
      }
    }

    func get(_ bean: BeanDeclaration, _ factory: any BeanFactory, in scope: String) throws -> AnyObject {
      let key = ObjectIdentifier(bean)
      while true {
        let (kept, flight, isOwn) = try state.withLock { state -> (Kept?, Flight?, Bool) in
          if state.isClosed { throw finishedError(scope, bean) }
          if let kept = state.instances[key] { return (kept, nil, false) }
          if let flight = state.builds[key] { return (nil, flight, false) }
          let flight = Flight()
          state.builds[key] = flight
          return (nil, flight, true)
        }
        if let kept { return kept.instance }
        guard let flight else { continue }
        if isOwn { return try build(bean, factory, in: scope, flight) }
        // The builder has kept the instance or has failed; after a failure, this thread builds.
        try wait(for: flight, of: bean, in: scope)
      }
    }

    /// Waits while another thread builds an instance. Not inlined: the check of the access to `spec` would move out of
    /// the loop, into every lookup.
    @inline(never)
    private func wait(for flight: Flight, of bean: BeanDeclaration, in scope: String) throws {
      try flight.wait(for: bean.definition.label, in: "scope \(scope)", origin: bean.spec.location.origin)
    }

    private func build(
      _ bean: BeanDeclaration, _ factory: any BeanFactory, in scope: String, _ flight: Flight
    ) throws -> AnyObject {
      let key = ObjectIdentifier(bean)
      defer {
        state.withLock { $0.builds[key] = nil }
        flight.end()
      }
      let instance = try factory.create(bean)
      let kept = Kept(bean, instance, (factory as? ScopedBean)?.keeper)
      let isKept = state.withLock { state in
        if state.isClosed { return false }
        state.instances[key] = kept
        state.order.append(key)
        return true
      }
      if isKept { return instance }
      // The scope has been finished meanwhile: the instance is released like the others.
      try bean.destroy(instance)
      throw finishedError(scope, bean)
    }

    private func finishedError(_ scope: String, _ bean: BeanDeclaration) -> EnvironmentError {
      EnvironmentError(.finished, "scope '\(scope)' has been finished", path: [bean.definition.label])
    }

    /// Removes a kept bean, and returns it retained, to be released.
    func take(_ bean: BeanDeclaration) -> ObjectReference? {
      state.withLock { $0.instances.removeValue(forKey: ObjectIdentifier(bean)) }.map { ObjectReference($0.instance) }
    }

    /// Whether the cache keeps an object.
    func holds(_ identity: ObjectIdentifier) -> Bool {
      state.withLock { state in
        state.instances.values.contains { ObjectReference(unretained: $0.instance).beanIdentity == identity }
      }
    }

    // MARK: the end

    /// Ends all lookups. Returns false where they have ended already.
    func close() -> Bool {
      state.withLock { state in
        defer { state.isClosed = true }
        return !state.isClosed
      }
    }

    /// Releases the instances that are kept when the work runs. An environment that ends sooner has removed its beans
    /// by then.
    func releaseAll(of scope: AbstractBeanScope) {
      guard let host = scope as? any HostedScope else { return releaseAll(of: scope, on: nil) }
      Errand(host) { self.releaseAll(of: scope, on: $0 ? host : nil) }.send()
    }

    /// Releases the kept instances, each as a user of its environment, whose own release waits for that. Beans of an
    /// environment whose release has begun are left to it, unless this runs inside of that release.
    ///
    /// - Parameter host: the host, where this runs in its place and releases can be awaited; nil elsewhere.
    private func releaseAll(of scope: AbstractBeanScope, on host: (any HostedScope)?) {
      while let (bean, environment) = next() {
        let isUser = environment?.changeLocked { $0.enter(before: .releasing) }
        if let environment, isUser == false, host != nil || !ResolutionContext.isInside(environment) { continue }
        let object = take(bean)
        let end = { @Sendable (failure: EnvironmentError?) in
          if let failure { self.note(failure, scope.name) }
          object?.release()
          if isUser == true { environment?.leave() }
        }
        guard let object, let ending = object.with({ BeanEnding($0, of: bean) }) else {
          end(nil)
          continue
        }
        let release = BeanRelease(ending, object, at: scope.name, environment, on: host, canAwait: host != nil)
        if release.isAwaited {
          return release.start { failure, _ in
            end(failure)
            self.releaseAll(of: scope)
          }
        }
        end(release.run())
      }
    }

    /// Returns the kept bean that was created last, and its environment; each bean once.
    private func next() -> (BeanDeclaration, Environment?)? {
      state.withLock { state in
        while let key = state.order.popLast() {
          if let kept = state.instances[key] { return (kept.bean, kept.environment) }
        }
        return nil
      }
    }

    private func note(_ failure: EnvironmentError, _ scope: String) {
      LogManager.getLogger(forName: "Beans.Scope").error("scope '\(scope)': \(failure)")
      state.withLock { $0.failures.append(failure) }
    }

    /// Returns the failures since the last call.
    func takeFailures() -> [any Error] {
      state.withLock { state in
        defer { state.failures = [] }
        return state.failures
      }
    }
  }
}
