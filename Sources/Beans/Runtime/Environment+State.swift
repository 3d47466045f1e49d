import BeansConfiguration
public import Synchronization

// The meaning of the words of an environment's core, and the state derived from them.

extension EnvironmentCore {
  /// Makes the core of a factory's child.
  @inline(__always)
  init(_ plan: Unretained<Plan>, parent: Unretained<Environment>, _ opening: ChildOpening.Call) {
    parent.retain()
    self.init(
      plan: plan.erased, parent: parent.erased, lifecycle: Lifecycle(openedBy: opening.owner).word, slots: nil, extras: nil,
      place: opening.place)
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

  var log: ContainerLog { homeResources?.log ?? .shared }

  var configuration: ConfigurationManager {
    resources?.configuration ?? core.compiledPlan.with { $0.configuration }
  }

  @inline(__always)
  var creationLog: CreationLog { core.compiledPlan.with { CreationLog(of: core.slots, $0.layout) } }

  /// The number of beans created here so far, without the seed.
  @inline(__always)
  var createdBeans: Int { core.plan == nil ? 0 : creationLog.count }

  /// Whether `other` is this environment's parent, or its parent's, and so on.
  func isDescendant(of other: Environment) -> Bool { isDescendant(of: Unretained(other)) }

  func isDescendant(of other: Unretained<Environment>) -> Bool {
    var next = core.parent
    while let environment = next {
      if environment == other { return true }
      next = environment.with { $0.core.parent }
    }
    return false
  }

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
}
