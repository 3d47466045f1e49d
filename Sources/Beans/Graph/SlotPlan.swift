import Synchronization

/// What the request path needs of one slot's recipe: flat, so that reading it retains nothing.
///
/// Everything a plan could settle is settled here, by `Plan.freeze`. What the pointers name is held by the plan.
struct SlotPlan: ~Copyable {
  /// One argument of the factory.
  struct Step {
    /// nil where the edge has to be asked.
    let access: Argument.Access?
    let hops: Int32
    let slot: Int
    /// The slot itself, where it belongs to a plain environment: that has one address for all who look.
    let fixed: UnsafeMutablePointer<Slot>?
    let edge: Unmanaged<Edge>
    /// Of the slot, where it is one that is paid for ahead; see `Prepaid`.
    let prepaid: Prepaid

    /// The second word of an argument that is not owned.
    let rest: UInt

    /// Where the argument's bean stands, as seen from an environment with these slots. For a step of a direct plan.
    @inline(__always)
    func place(_ slots: UnsafeMutablePointer<Slot>) -> UnsafeMutablePointer<Slot> { fixed ?? slots + slot }
  }

  /// One property.
  struct Assignment {
    /// nil where only the instance knows what it wants.
    let edge: Unmanaged<Edge>?
    let field: ReferenceField?
  }

  let recipe: Unmanaged<Recipe>
  let constructor: Unmanaged<BeanConstructor>
  let steps: UnsafeMutablePointer<Step>
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
  /// Whether that takes nothing but a few beans in slots, of the same environment or of plain ones.
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
  /// How an object of class `identity` becomes a `DisposableBean`,
  let disposable: ExistentialForm?
  /// `EnvironmentAware`,
  let aware: ExistentialForm?
  /// or a `Bean`.
  let bean: ExistentialForm?
  /// Retained; 0 until somebody asks for this bean first of all.
  private let order = Atomic<UInt>(0)

  init(_ recipe: Recipe) {
    let definition = recipe.definition
    self.recipe = .passUnretained(recipe)
    self.constructor = recipe.constructor
    self.stepCount = recipe.arguments.count
    self.steps = .allocate(capacity: recipe.arguments.count)
    self.assignmentCount = recipe.properties.count
    self.assignments = .allocate(capacity: recipe.properties.count)
    self.identity = recipe.identity.map { UInt(bitPattern: $0) } ?? 0
    let isPlain =
      recipe.prerequisites.isEmpty && recipe.properties.isEmpty && definition.postConstructs.isEmpty
      && !recipe.isInactive && recipe.traits.isDisjoint(with: [.aware, .bean])
      && (recipe.isInfrastructure || recipe.plan.processors.isEmpty)
    let isFollowed = recipe.plan.isFollowed
    self.care = isFollowed ? .followed : isPlain ? .plain : .full
    self.isRooted =
      care == .plain && recipe.arguments.allSatisfy { $0.direct != nil && $0.slot >= 0 && $0.recipe?.plan.slots != nil }
    let isCalled = recipe.traits.contains(.disposable)
    func form(_ type: Any.Type, _ trait: LifecycleTraits) -> ExistentialForm? {
      recipe.traits.contains(trait) ? recipe.identity.flatMap { ExistentialForm(type, for: $0) } : nil
    }
    self.disposable = form((any DisposableBean).self, .disposable)
    self.aware = form((any EnvironmentAware).self, .aware)
    self.bean = form((any Bean).self, .bean)
    if isFollowed || definition.isInstance || recipe.traits.contains(.asyncDisposable)
      || (isCalled && disposable == nil)
    {
      self.ending = .full
    } else {
      self.ending = isCalled || !definition.onDestroys.isEmpty ? .called : .quiet
    }
    for (index, edge) in recipe.arguments.enumerated() {
      let isSlot = edge.slot >= 0 && edge.direct != nil
      (steps + index).initialize(
        to: Step(
          access: isSlot ? edge.direct : nil, hops: Int32(edge.hops), slot: edge.slot,
          fixed: isSlot ? edge.recipe?.plan.slots.map { $0 + edge.slot } : nil, edge: .passUnretained(edge),
          prepaid: edge.hops == 0 ? Prepaid(slot: edge.slot) : Prepaid(),
          rest: edge.direct.map { Argument.rest($0) } ?? 0))
    }
    for (index, property) in recipe.properties.enumerated() {
      (assignments + index).initialize(
        to: Assignment(edge: property.edge.map { .passUnretained($0) }, field: property.field))
    }
    let steps = UnsafeBufferPointer(start: self.steps, count: stepCount)
    self.isDirect =
      care == .plain && stepCount <= Self.fewArguments
      && steps.allSatisfy { $0.access != nil && ($0.hops == 0 || $0.fixed != nil) }
  }

  /// The slots of the same environment that a direct plan takes its arguments from, if those can be paid for ahead.
  var takenSlots: [Int] {
    guard isDirect else { return [] }
    return UnsafeBufferPointer(start: steps, count: stepCount).filter { !$0.prepaid.isEmpty }.map(\.slot)
  }

  /// A constant, so that the arguments stand on the stack without asking how much of it is left.
  static var fewArguments: Int { 8 }

  deinit {
    steps.deallocate()
    assignments.deallocate()
    Self.order(order.load(ordering: .relaxed))?.release()
  }

  /// What has to be built for this bean, itself included.
  @inline(__always)
  var buildOrder: Unmanaged<BuildOrder> { Self.order(order.load(ordering: .acquiring)) ?? makeOrder() }

  @inline(never)
  private func makeOrder() -> Unmanaged<BuildOrder> {
    let made = Unmanaged.passRetained(BuildOrder(for: recipe.takeUnretainedValue()))
    let (won, other) = order.compareExchange(
      expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
    if won { return made }
    made.release()
    // Only this method writes the word, and only once.
    return Self.order(other).unsafelyUnwrapped
  }

  @inline(__always)
  private static func order(_ word: UInt) -> Unmanaged<BuildOrder>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}
