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

    /// Where the argument's bean stands, as seen from an environment with these slots. For a step of a direct plan.
    @inline(__always)
    func place(_ slots: UnsafeMutablePointer<Slot>) -> UnsafeMutablePointer<Slot> { fixed ?? slots + slot }
  }

  let recipe: Unmanaged<Recipe>
  let constructor: Unmanaged<BeanConstructor>
  let steps: UnsafeMutablePointer<Step>
  let stepCount: Int
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
  /// How an object of class `identity` becomes a `DisposableBean`.
  let disposable: ExistentialForm?
  /// Retained; 0 until somebody asks for this bean first of all.
  private let order = Atomic<UInt>(0)

  init(_ recipe: Recipe) {
    let definition = recipe.definition
    self.recipe = .passUnretained(recipe)
    self.constructor = recipe.constructor
    self.stepCount = recipe.arguments.count
    self.steps = .allocate(capacity: recipe.arguments.count)
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
    self.disposable =
      isCalled ? recipe.identity.flatMap { ExistentialForm((any DisposableBean).self, for: $0) } : nil
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
          fixed: isSlot ? edge.recipe?.plan.slots.map { $0 + edge.slot } : nil, edge: .passUnretained(edge)))
    }
    let steps = UnsafeBufferPointer(start: self.steps, count: stepCount)
    self.isDirect =
      care == .plain && stepCount <= Self.fewArguments
      && steps.allSatisfy { $0.access != nil && ($0.hops == 0 || $0.fixed != nil) }
  }

  /// A constant, so that the arguments stand on the stack without asking how much of it is left.
  static var fewArguments: Int { 8 }

  deinit {
    steps.deallocate()
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
