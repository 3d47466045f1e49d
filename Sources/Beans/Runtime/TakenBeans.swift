/// The beans that have to exist before another bean or a lookup: those that it takes as they are, in collections and in
/// values, not those that it gets later, by a `Lazy` or a provider.
struct TakenBeans {
  typealias Bean = (environment: Unretained<Environment>, recipe: FrozenReference<Recipe>)

  /// The beans in order, each as often as it is taken.
  private(set) var all: [Bean] = []

  /// Creates an empty list, for `find`.
  init() {}

  /// Finds the beans that a bean takes or requires.
  init(by recipe: FrozenReference<Recipe>, in environment: Environment) { find(by: recipe, in: environment) }

  /// Finds the beans that a bean takes or requires, in place of those found before. A walk over many beans reuses the
  /// memory of one list.
  mutating func find(by recipe: FrozenReference<Recipe>, in environment: Environment) {
    all.removeAll(keepingCapacity: true)
    recipe.value.operands.forEach { add($0.place, environment) }
    recipe.value.properties.forEach { add($0.place, environment) }
    recipe.value.requirements.forEach { add($0.place, environment) }
    recipe.value.needs.forEach { add($0.place, environment) }
  }

  /// Finds the beans that the place of an operand leads to.
  init(by place: Operand.Place, in environment: Environment) { add(place, environment) }

  /// Finds the beans that a computation leads to.
  init(by computation: Computation, in environment: Environment) { add(computation, environment) }

  private mutating func add(_ place: Operand.Place, _ environment: Environment) {
    switch place {
    case .own(let slot), .counted(let slot): add(slot, of: Unretained(environment))
    case .outer(let slot): add(slot, environment)
    case .computed(let number): add(environment.core.compiledPlan.with { $0.computations[Int(number)] }, environment)
    }
  }

  private mutating func add(_ computation: Computation, _ environment: Environment) {
    switch computation {
    case .outer(let hops, let number), .scoped(let number, let hops): add(number, of: environment.ancestor(hops))
    case .slot(let slot): add(slot, environment)
    case .prototype(let number), .owned(let number, _): add(number, of: Unretained(environment))
    case .composed(let operands, _, _):
      for operand in operands { add(operand.place, environment) }
    case .collected(let computations, _, _):
      for computation in computations { add(computation, environment) }
    case .deferred, .absent, .provider, .part, .injection, .products: break
    }
  }

  private mutating func add(_ slot: Slot, _ environment: Environment) {
    if let (owner, number) = environment.owner(of: slot) { add(number, of: owner) }
  }

  private mutating func add(_ number: Int32, of environment: Unretained<Environment>) {
    all.append((environment, environment.with { $0.recipe(number) }))
  }
}
