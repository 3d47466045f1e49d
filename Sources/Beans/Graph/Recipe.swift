/// The compiled, validated form of one bean in one plan: what to call, with which dependencies, into which slot.
@usableFromInline
final class Recipe: @unchecked Sendable {  // written by the compiler under the plan's lock, immutable once published
  enum Kind {
    /// One instance in a slot of the environment that owns the plan.
    case slot(Int)
    /// A new instance each time.
    case prototype
    /// A user's scope decides.
    case custom
  }

  /// A property and where its value comes from.
  struct Property {
    enum Source {
      case edge(Edge)
      /// The bean whose id stands in the object, and how faults name the property.
      case named((AnyObject) -> String, Dependency, at: String)
    }

    let source: Source
    let set: (AnyObject, Argument) throws -> Void
    let field: ReferenceField?
    let place: PathPlace?

    init(_ source: Source, _ access: PropertyAccess) {
      self.source = source
      self.set = access.set
      self.field = access.field
      self.place = access.place
    }

    private init(_ source: Source, _ set: @escaping (AnyObject, Argument) throws -> Void) {
      self.source = source
      self.set = set
      self.field = nil
      self.place = nil
    }

    func setting(_ set: @escaping (AnyObject, Argument) throws -> Void) -> Property { Property(source, set) }

    /// What startup knows of it.
    var edge: Edge? { if case .edge(let edge) = source { edge } else { nil } }
  }

  // What the linker reads of every dependency comes first, so that it stands in one cache line.

  /// The last one of its own plan that leads here, until the recipe is dismantled.
  @exclusivity(unchecked) var edge: Edge?
  /// The same, not retained.
  var edgeReference: Unmanaged<Edge>? { edge.map { .passUnretained($0) } }
  /// See `number`. Memory holds fewer.
  @exclusivity(unchecked) private var position: UInt32 = 0
  let definition: Definition
  /// The slot, or -1.
  let slot: Int
  private let isPrototype: Bool
  let isLazy: Bool
  /// Whether post processors leave it alone, because one of them is made of it.
  @exclusivity(unchecked) var isInfrastructure = false
  /// Whether something that is certain to be built needs it.
  @exclusivity(unchecked) var isNeeded = false
  let traits: LifecycleTraits
  /// Holds its recipes, and is held by whoever uses one of them.
  private let planReference: Unmanaged<Plan>

  // Written once, by the linker.
  @exclusivity(unchecked) var prerequisites: [Edge] = []
  @exclusivity(unchecked) var arguments: [Edge] = []
  @exclusivity(unchecked) var properties: [Property] = []
  /// What a factory bean makes. In no plan: its dependencies count as the factory's.
  @exclusivity(unchecked) private(set) var product: Recipe?

  /// The same once more, flat, for the request path: written by `SlotPlanMemory`, and held by the plan.
  @exclusivity(unchecked) var flat: UnsafeMutablePointer<SlotPlan>?

  /// nil as long as nothing is wrong.
  @exclusivity(unchecked) private var trouble: Trouble?

  /// The class of what a slot holds, if startup can know it: an object of this class has `traits`.
  let identity: ObjectIdentifier?
  /// Held by the definition until that is dismantled. Unmanaged, because calling a closure in a variable retains it.
  let constructor: Unmanaged<BeanConstructor>

  init(_ definition: Definition, kind: Kind, plan: __shared Plan) {
    self.definition = definition
    if case .slot(let slot) = kind { self.slot = slot } else { self.slot = -1 }
    if case .prototype = kind { isPrototype = true } else { isPrototype = false }
    self.planReference = .passUnretained(plan)
    self.isLazy = definition.isLazy
    self.traits = definition.traits
    self.identity = definition.constructor?.identity
    self.constructor = .passUnretained(definition.constructor ?? Self.none)
  }

  /// Of a definition at fault, which is never built.
  private static let none = BeanConstructor(dependencies: []) { _ in
    throw EnvironmentError(.invalidDeclaration, "a bean without a constructor passed startup (please report this)")
  }

  var plan: Plan { planReference.takeUnretainedValue() }
  var label: String { definition.label }

  /// Its position in its plan, or among the recipes that are being sorted; see `DependencyTable`.
  var number: Int {
    get { Int(position) }
    set { position = UInt32(truncatingIfNeeded: newValue) }
  }

  /// Its slot, where that belongs to a plain environment: it has one address for all who look.
  var fixedSlot: UnsafeMutablePointer<Slot>? {
    slot >= 0 ? planReference._withUnsafeGuaranteedRef { $0.slots }.map { $0 + slot } : nil
  }

  var kind: Kind { slot >= 0 ? .slot(slot) : isPrototype ? .prototype : .custom }

  /// Calls `body` with every bean that has to exist first, or before the first product, in order.
  func forEachDependency(_ body: (Recipe) -> Void) {
    // By index: a list that is walked as a whole is retained for it.
    for index in prerequisites.indices { prerequisites[index].forEachRecipe(body) }
    for index in arguments.indices { arguments[index].forEachRecipe(body) }
    for index in properties.indices { properties[index].edge?.forEachRecipe(body) }
    product?.forEachDependency(body)
  }

  /// The same as a list.
  var dependencies: [Recipe] {
    var found: [Recipe] = []
    forEachDependency { found.append($0) }
    return found
  }

  /// Gives what has been linked to the product: it is what calls for it.
  func assemble(_ definition: Definition) -> Recipe {
    let product = Recipe(definition, kind: .prototype, plan: plan)
    product.arguments = arguments
    self.product = product
    arguments = [Edge(Dependency.of(Assembly.self), .assembly(product))]
    return product
  }

  /// Lets go of other recipes.
  func dismantle() {
    product?.dismantle()
    product = nil
    edge = nil
    prerequisites = []
    arguments = []
    properties = []
  }

  /// Which lifecycle protocols an instance has: usually those of the declared class.
  @inline(__always)
  func traits(of object: AnyObject) -> LifecycleTraits {
    if ObjectIdentifier(type(of: object)) == identity { return traits }
    return differingTraits(of: object)
  }

  @inline(never)
  private func differingTraits(of object: AnyObject) -> LifecycleTraits {
    if definition.isSeed { return [] }
    if let box = object as? Box {
      // A struct's box never has the struct's identity; an existential's traits are those of what it holds.
      return LifecycleTraits.cached(of: type(of: box.any))
    }
    return LifecycleTraits.cached(of: type(of: object))
  }
}

/// What is wrong with a recipe. Few have any of it.
extension Recipe {
  private final class Trouble {
    @exclusivity(unchecked) var inactive: EnvironmentError?
    @exclusivity(unchecked) var faults: [EnvironmentError] = []
  }

  /// To be written to.
  private var troubled: Trouble {
    if let trouble { return trouble }
    let made = Trouble()
    trouble = made
    return made
  }

  /// Why the bean cannot be built from this plan, although nothing is wrong with it elsewhere.
  var inactive: EnvironmentError? {
    get { trouble?.inactive }
    set {
      if newValue == nil, trouble == nil { return }
      troubled.inactive = newValue
      if newValue != nil { plan.hasInactive = true }
    }
  }
  var isInactive: Bool { trouble?.inactive != nil }

  /// What the linker found wrong.
  var faults: [EnvironmentError] {
    get { trouble?.faults ?? [] }
    set {
      if newValue.isEmpty, trouble == nil { return }
      troubled.faults = newValue
      if !newValue.isEmpty { plan.hasFaults = true }
    }
  }
}
