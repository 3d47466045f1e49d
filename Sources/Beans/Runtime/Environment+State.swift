import BeansConfiguration
import CBeansRuntime
public import Synchronization

// The meaning of the words of an environment's core, and the state derived from them.

extension EnvironmentCore {
  /// Makes the core of a factory's child.
  @inline(__always)
  init(_ plan: Unretained<Plan>, parent: Unretained<Environment>, _ place: CallPlace, _ owner: OutcomeOwner) {
    parent.retain()
    self.init(
      plan: plan.erased, parent: parent.erased, lifecycle: Lifecycle(openedBy: owner).word, slots: nil, extras: nil,
      place: place)
  }

  /// Makes the core of an environment that is not a child of a factory.
  init(parent: Environment?, _ extras: EnvironmentExtras, _ place: CallPlace) {
    self.init(
      plan: nil, parent: parent.map { ObjectReference($0) }, lifecycle: Lifecycle.Phase.declaring.rawValue,
      slots: Slots.none, extras: ObjectReference(extras), place: place)
  }

  // MARK: from any thread

  /// The environment further out, if there is one.
  @inline(__always)
  var parent: Unretained<Environment>? { outer.map { Unretained($0) } }

  @inline(__always)
  var lifecycle: Lifecycle { Lifecycle(word: lifecycleWord.load(ordering: .acquiring)) }

  /// Equals `lifecycle.isFinishing`, for code that is inlined into users' modules.
  @inlinable @inline(__always)
  var isFinishing: Bool { lifecycleWord.load(ordering: .acquiring) & 7 >= 4 }

  /// The plan; nil until the environment has been compiled. The environment that declared a factory keeps the plan of
  /// its children.
  @inline(__always)
  var plan: Unretained<Plan>? { planReference.load(ordering: .acquiring).map { Unretained($0) } }

  /// The plan, for callers that run only after compilation.
  @inline(__always)
  var compiledPlan: Unretained<Plan> { Unretained(planReference.load(ordering: .relaxed).known) }

  @inline(__always)
  var extras: Unretained<EnvironmentExtras>? {
    extrasReference.load(ordering: .acquiring).map { Unretained($0) }
  }

  // MARK: by one thread, before others look

  /// Stores a plan that the resources of this environment retain.
  func compiled(_ plan: Plan, _ slots: Slots) {
    slotsReference.store(slots, ordering: .relaxed)
    planReference.store(Unretained(plan).erased, ordering: .releasing)
  }

  /// Stores the extras, unless there are some already. Returns the stored ones.
  func offer(_ extras: EnvironmentExtras) -> Unretained<EnvironmentExtras> {
    let offered = Unretained(extras)
    let (won, other) = extrasReference.compareExchange(
      expected: nil, desired: offered.erased, ordering: .acquiringAndReleasing)
    if won { offered.retain() }
    return other.map { Unretained($0) } ?? offered
  }

  /// Whether the environment has been among its parent's children, and has not left them.
  @inline(__always)
  var isAmongChildren: Bool { previous.load(ordering: .relaxed) != .none }

  // MARK: under the lock

  /// Runs a transition and publishes its result to all threads.
  @inline(__always)
  func change<R>(_ transition: (inout Lifecycle) -> R) -> R {
    var lifecycle = Lifecycle(word: lifecycleWord.load(ordering: .relaxed))
    defer { lifecycleWord.store(lifecycle.word, ordering: .releasing) }
    return transition(&lifecycle)
  }
}

extension Environment {
  /// The name in reports and errors; in a child of a factory, the name of the scope.
  public var name: String { resources?.name ?? core.compiledPlan.with { $0.name } }

  /// The environment whose beans this one sees.
  public var parent: Environment? { core.parent?.object }

  var existingExtras: EnvironmentExtras? { core.extras?.object }

  /// Rarely used state of an environment, allocated on demand.
  var extras: EnvironmentExtras { (core.extras ?? core.offer(EnvironmentExtras())).object }

  /// The resources of an environment that is not a child of a factory; nil in a child of a factory.
  var resources: EnvironmentResources? { core.extras?.with { $0.resources } ?? nil }

  /// The resources of the nearest environment that is not a child of a factory.
  var homeResources: EnvironmentResources? { resources ?? core.compiledPlan.with { $0.home.with { $0.resources } } }

  /// The resources here and further out, nearest first.
  var resourcesOutwards: some Sequence<EnvironmentResources> {
    sequence(first: self, next: \.parent).lazy.compactMap(\.resources)
  }

  var log: ContainerLog { .shared }

  var configuration: ConfigurationManager {
    resources?.configuration ?? core.compiledPlan.with { $0.configuration }
  }

  /// The observers of this environment, those from further out first.
  var observers: [any EnvironmentObserver] { core.plan?.with { $0.observers } ?? [] }

  @inline(__always)
  var creationLog: CreationLog { core.compiledPlan.with { CreationLog(of: core.slots, $0.layout) } }

  /// The number of beans created here so far, without the seed.
  @inline(__always)
  var createdBeans: Int { if core.plan == nil { 0 } else { creationLog.count } }

  /// Whether `other` is this environment's parent, or its parent's, and so on.
  func isDescendant(of other: Unretained<Environment>) -> Bool {
    var next = core.parent
    while let environment = next {
      if environment == other { return true }
      next = environment.with { $0.core.parent }
    }
    return false
  }

  /// Whether `other` is this environment, or one further out.
  func isWithin(_ other: Environment) -> Bool { self === other || isDescendant(of: Unretained(other)) }

  /// Returns the environment that many steps further out. The plan guarantees that it exists.
  @inline(__always)
  func ancestor(_ hops: Int32) -> Unretained<Environment> {
    var (environment, hops) = (Unretained(self), hops)
    while hops != 0, let parent = environment.with({ $0.core.parent }) {
      environment = parent
      hops &-= 1
    }
    return environment
  }

  // MARK: the scope object

  /// The scope that determines where beans are released.
  @inline(__always)
  package var host: (any HostedScope)? {
    guard case .host(let host) = scope else { return nil }
    return host
  }

  /// Reports to a hosted scope that the child is in use.
  @inline(__always)
  func used() {
    if case .host(let host) = scope { host.used() }
  }

  /// The scope object of the child that ends with the child; nil for one with a host.
  @inline(__always)
  var childScope: (any ChildScope)? {
    guard case .life(let scope) = scope else { return nil }
    return scope
  }

  /// The registered scopes of this environment, which it finishes.
  var ownScopes: [any BeanScope] { resources?.scopes.map(\.scope) ?? [] }

  // MARK: declarations, as long as the environment accepts more of them

  /// Returns the declarations while they are open. Throws `.frozen`, or the error of startup; `subject` and `origin`
  /// describe the late declaration.
  func declarations(
    _ what: String, _ subject: @autoclosure () -> String? = nil,
    at origin: @autoclosure () -> EnvironmentError.Origin? = nil
  ) throws -> EnvironmentDeclarations {
    let resources = resources
    if core.lifecycle.phase == .declaring, let declarations = resources?.openDeclarations { return declarations }
    if let failure = resources?.failure { throw failure }
    throw EnvironmentError(
      .frozen,
      "\(what): environment '\(name)' has started, its declarations are closed: declare before startup() and before "
        + "the first lookup", path: ["'\(name)'"] + (subject().map { [$0] } ?? []), origin: origin())
  }

  /// Throws once declarations are closed.
  package func checkDeclaring(
    _ what: String, _ subject: String? = nil, at origin: EnvironmentError.Origin? = nil
  ) throws {
    _ = try declarations(what, subject, at: origin)
  }

  /// Returns the declarations, before startup or after it. Waits for a startup that another thread has begun.
  func knownDeclarations(_ resources: EnvironmentResources) throws -> EnvironmentDeclarations {
    while true {
      if !resources.isTemplate, let known = resources.knownDeclarations { return known }
      if core.lifecycle.isEnding { throw finishedError() }
      // Another thread starts the environment.
      try startIfNeeded()
    }
  }

  /// The declarations of the nearest environment, here or further out, that is not a child of a factory.
  var nearestDeclarations: EnvironmentDeclarations? { homeResources?.knownDeclarations }

  /// The name of the module whose `configure` is running.
  var declaringModule: String? { resources?.openDeclarations?.module?.name }
}

// MARK: what the declarations need of an environment

extension Environment: EnvironmentMemory {
  @inline(__always)
  func releaseMemory() {
    // Nearly always a request that has ended.
    if !core.lifecycle.isReleased { letGoOfBeans() }
    scope.giveBack()
    // The slots of an environment that is not a child of a factory belong to its resources.
    if core.slots != room.slots, resources == nil { core.slots.deallocate() }
  }

  /// Drops the bean references of an environment that was deallocated without `finish`. No release callbacks run.
  private func letGoOfBeans() {
    // The sources of the configuration, too, may hold objects that hold them.
    defer { resources?.letGo() }
    guard let plan = core.plan, core.lifecycle.phase < .releasing else { return }
    let (log, slots) = (creationLog, core.slots)
    _ = log.last(log.count) { slot in
      let content = slots[slot].content
      if content.isFilled { content.object.release() }
      return true
    }
    if plan.with({ $0.hasSeed }), slots[0].content.isFilled { slots[0].content.object.release() }
  }
}

extension Environment: BeanLookup {
  func provide<T>(_ type: T.Type, id: String?) throws -> T {
    try provide(type, id, from: nil) { try $0.find(type, id) }
  }

  func provide<T>(
    _ type: T.Type, _ id: String?, from module: ObjectIdentifier?, _ look: (Environment) throws -> T
  ) throws -> T {
    var environment = self
    if let current = Environment.current, current.isWithin(self) { environment = current }
    do { return try look(environment) } catch let error as EnvironmentError {
      throw environment.reason(for: error, Parameter.of(type), id: id, from: module)
    }
  }
}
