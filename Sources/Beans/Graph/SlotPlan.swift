import Synchronization

/// What the request path needs of one slot's recipe: flat, so that reading it retains nothing.
///
/// Everything a plan could settle is settled here, by `Plan.freeze`. What the pointers name is held by the plan; see
/// `SlotPlanMemory`.
struct SlotPlan: ~Copyable {
  /// One argument of the factory, where it has to be asked for.
  struct Step {
    let edge: Unmanaged<Edge>
    let slot: Int32
    let hops: Int32
    /// nil where the edge has to be asked.
    let access: Argument.Access?

    fileprivate init(_ edge: __shared Edge) {
      self.edge = .passUnretained(edge)
      slot = Int32(truncatingIfNeeded: edge.slot)
      hops = Int32(truncatingIfNeeded: edge.hops)
      access = edge.slot >= 0 ? edge.direct : nil
    }
  }

  /// One property.
  struct Assignment {
    /// nil where only the instance knows what it wants.
    let edge: Unmanaged<Edge>?
    private let known: ReferenceField?
    private let place: Unmanaged<PathPlace>?

    fileprivate init(_ property: Recipe.Property) {
      edge = property.edge.map { .passUnretained($0) }
      known = property.field
      place = property.place.map { .passUnretained($0) }
    }

    @inline(__always)
    var field: ReferenceField? { known ?? place?._withUnsafeGuaranteedRef { $0.field } }
  }

  let recipe: Unmanaged<Recipe>
  let constructor: Unmanaged<BeanConstructor>
  /// As many of each.
  let steps: UnsafeMutablePointer<Step>
  let places: UnsafeMutablePointer<ArgumentPlace>
  let stepCount: Int
  let assignments: UnsafeMutablePointer<Assignment>
  let assignmentCount: Int
  /// The class of what the factory makes, if startup can know it, or 0.
  let identity: UInt
  /// What to build means.
  enum Care {
    /// To call the factory and nothing else.
    case plain
    /// Everything that a bean may need.
    case full
    /// The same, and to say so.
    case followed
  }

  let care: Care
  /// Whether that takes nothing but beans in slots, of the same environment or of plain ones: what `places` say.
  let isDirect: Bool
  /// Whether that takes nothing but what stands in plain environments.
  let isRooted: Bool
  /// What to release an object of class `identity` means.
  enum Ending {
    /// To let go of it and nothing else.
    case quiet
    /// To call `preDestroy` or callbacks first.
    case called
    /// Whatever a bean may need.
    case full
  }

  let ending: Ending
  /// `identity` where that is quiet, or 0.
  let quietIdentity: UInt
  /// How an object of class `identity` becomes a `DisposableBean`,
  let disposable: ExistentialForm?
  /// `EnvironmentAware`,
  let aware: ExistentialForm?
  /// or a `Bean`.
  let bean: ExistentialForm?
  /// Whether nothing is ever built together with this bean: plain environments have an order of their own.
  let standsAlone: Bool
  /// The slots that a direct plan's arguments come from, where those can be paid for ahead.
  let takes: SlotBits
  private let stands = Atomic(false)
  /// 0 until somebody asks for this bean first of all.
  private let order = Atomic<UInt>(0)

  /// How much memory a recipe's slot plan takes beside itself.
  static func bytesBehind(_ recipe: Recipe, in plan: Plan) -> Int {
    recipe.arguments.count * (MemoryLayout<Step>.stride + MemoryLayout<ArgumentPlace>.stride)
      + recipe.properties.count * MemoryLayout<Assignment>.stride
      + (standsAlone(recipe, in: plan) ? BuildOrder.bytes(steps: 1) : 0)
  }

  private static func standsAlone(_ recipe: Recipe, in plan: Plan) -> Bool {
    recipe.slot >= 0 && plan.scopeName == nil
  }

  /// `plan`: the recipe's own. What belongs to it is read in place: retaining each part for that would cost more.
  init(_ recipe: __shared Recipe, in plan: __shared Plan, _ memory: inout SlotPlanMemory.Rest) {
    self.recipe = .passUnretained(recipe)
    self.constructor = recipe.constructor
    // Locals: an operand of `&&` is a closure, and where that reads a property of `self`, Swift 6.3 releases, when they
    // are set, those that have not been set yet.
    let (stepCount, assignmentCount) = (recipe.arguments.count, recipe.properties.count)
    self.stepCount = stepCount
    let (steps, places) = (memory.take(stepCount, of: Step.self), memory.take(stepCount, of: ArgumentPlace.self))
    (self.steps, self.places) = (steps, places)
    self.assignmentCount = assignmentCount
    self.assignments = memory.take(assignmentCount)
    self.standsAlone = Self.standsAlone(recipe, in: plan)
    self.identity = recipe.identity.map { UInt(bitPattern: $0) } ?? 0
    let hasCallbacks = recipe.definition.hasDetails
    let isPlain =
      recipe.prerequisites.isEmpty && assignmentCount == 0
      && (!hasCallbacks || recipe.definition.postConstructs.isEmpty)
      && !recipe.isInactive && recipe.traits.isDisjoint(with: [.aware, .bean])
      && (recipe.isInfrastructure || plan.processors.isEmpty)
    let isFollowed = plan.isFollowed
    self.care = isFollowed ? .followed : isPlain ? .plain : .full
    let isCalled = recipe.traits.contains(.disposable)
    func form(_ type: Any.Type, _ trait: LifecycleTraits) -> ExistentialForm? {
      recipe.traits.contains(trait) ? recipe.identity.flatMap { ExistentialForm(type, for: $0) } : nil
    }
    let disposable = form((any DisposableBean).self, .disposable)
    self.disposable = disposable
    self.aware = form((any EnvironmentAware).self, .aware)
    self.bean = form((any Bean).self, .bean)
    if isFollowed || recipe.definition.isInstance || recipe.traits.contains(.asyncDisposable)
      || (isCalled && disposable == nil)
    {
      self.ending = .full
    } else {
      self.ending = isCalled || hasCallbacks && !recipe.definition.onDestroys.isEmpty ? .called : .quiet
    }
    self.quietIdentity = ending == .quiet ? identity : 0
    let reach = Reach(of: recipe.arguments, in: plan, steps, places)
    let isPlainOnly = care == .plain
    self.isDirect = isPlainOnly && reach.isDirect
    self.isRooted = isPlainOnly && reach.isRooted
    self.takes = isDirect ? reach.takes : SlotBits()
    for index in recipe.properties.indices {
      (assignments + index).initialize(to: Assignment(recipe.properties[index]))
    }
  }

  /// How far one has to go for the arguments.
  private struct Reach {
    private(set) var isDirect = true
    private(set) var isRooted = true
    private(set) var takes = SlotBits()

    /// Writes down where each of them stands.
    init(
      of edges: __shared [Edge], in plan: __shared Plan, _ steps: UnsafeMutablePointer<Step>,
      _ places: UnsafeMutablePointer<ArgumentPlace>
    ) {
      edges.withUnsafeBufferPointer { edges in
        for index in edges.indices {
          Unmanaged.passUnretained(edges[index])._withUnsafeGuaranteedRef {
            (steps + index).initialize(to: Step($0))
            (places + index).initialize(to: ArgumentPlace($0, in: plan))
          }
          add(steps + index, places[index])
        }
      }
    }

    private mutating func add(_ step: UnsafePointer<Step>, _ place: ArgumentPlace) {
      if step.pointee.access == nil { isDirect = false }
      if place.isOwn {
        isRooted = false
        if step.pointee.hops != 0 { isDirect = false }
      }
      if let slot = place.owned { takes.formUnion(SlotBits(slot)) }
    }
  }

  /// Those of the same environment that a direct plan takes, each as often as it does, if they can be paid for ahead.
  @inline(__always)
  func forEachTaken(_ body: (_ slot: Int) -> Void) {
    if takes.isEmpty { return }
    for index in 0..<stepCount {
      if let slot = places[index].owned { body(slot) }
    }
  }

  /// Whether everything stands that a direct plan takes from plain environments, which keep it until nobody asks any more.
  @inline(__always)
  var isStanding: Bool { stands.load(ordering: .acquiring) || findStanding() }

  @inline(never)
  private func findStanding() -> Bool {
    for index in 0..<stepCount {
      if let slot = places[index].slot, slot.pointee.object == nil { return false }
    }
    stands.store(true, ordering: .releasing)
    return true
  }

  /// Those of a direct plan that stands, of which `slots` belong to the environment that builds.
  @inline(__always)
  func arguments(_ slots: UnsafeMutablePointer<Slot>) -> Arguments { Arguments(places, slots) }

  deinit {
    if !standsAlone { Self.order(order.load(ordering: .relaxed))?.deallocate() }
  }

  /// Once, where nobody looks yet. `own` is where this stands.
  func standAlone(at own: UnsafeMutablePointer<SlotPlan>, _ memory: inout SlotPlanMemory.Rest) {
    order.store(UInt(bitPattern: BuildOrder.make(of: own, in: &memory)), ordering: .relaxed)
  }

  /// What has to be built for this bean, itself included.
  @inline(__always)
  var buildOrder: UnsafePointer<BuildOrder> { Self.order(order.load(ordering: .acquiring)) ?? makeOrder() }

  @inline(never)
  private func makeOrder() -> UnsafePointer<BuildOrder> {
    let made = BuildOrder.make(for: recipe.takeUnretainedValue())
    let (won, other) = order.compareExchange(
      expected: 0, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
    if won { return made }
    made.deallocate()
    // Only this method writes the word, and only once.
    return Self.order(other).unsafelyUnwrapped
  }

  @inline(__always)
  private static func order(_ word: UInt) -> UnsafePointer<BuildOrder>? { UnsafePointer(bitPattern: word) }
}

extension ArgumentPlace {
  /// Where the plan of the recipe that takes it finds it. Of no use for what does not stand in a slot, or stands in a
  /// child further out.
  fileprivate init(_ edge: __shared Edge, in plan: __shared Plan) {
    let rest = edge.direct.map { Argument.rest($0) } ?? 0
    guard edge.slot >= 0, edge.direct != nil else {
      self.init(own: 0, rest: rest)
      return
    }
    // Only further out the edge's recipe is asked: it may stand far away in memory.
    let fixed = edge.hops == 0 ? plan.slots.map { $0 + edge.slot } : edge.recipe?.fixedSlot
    if let fixed {
      self.init(at: fixed, rest: rest)
    } else {
      // No step makes the seed.
      let isMade = edge.hops == 0 && !(edge.slot == 0 && plan.hasSeed)
      self.init(own: edge.slot, rest: isMade && !SlotBits(edge.slot).isEmpty ? rest | 1 : rest)
    }
  }
}
