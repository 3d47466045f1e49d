// The beans that have to exist before another bean or a lookup: those that it takes as they are, in collections and in
// values, not those that it gets later, by a `Lazy` or a provider.

extension FrozenReference<Recipe> {
  /// Receives a bean and its environment.
  typealias Visitor = (Environment, FrozenReference<Recipe>) -> Void

  /// Calls `body` with each bean that this one takes or requires, as often as it does.
  func forEachTaken(in environment: Environment, _ body: Visitor) {
    value.operands.forEach { $0.place.forEachBean(in: environment, body) }
    value.properties.forEach { $0.place.forEachBean(in: environment, body) }
    value.requirements.forEach { $0.place.forEachBean(in: environment, body) }
    value.needs.forEach { $0.place.forEachBean(in: environment, body) }
  }
}

extension Operand.Place {
  /// Calls `body` with each bean that the place leads to.
  func forEachBean(in environment: Environment, _ body: FrozenReference<Recipe>.Visitor) {
    switch self {
    case .own(let slot), .counted(let slot): body(environment, environment.recipe(slot))
    case .outer(let slot):
      guard let (owner, number) = environment.owner(of: slot) else { return }
      owner.with { body($0, $0.recipe(number)) }
    case .computed(let number):
      environment.core.compiledPlan.with { $0.computations[Int(number)] }.forEachBean(in: environment, body)
    }
  }
}

extension Computation {
  /// Calls `body` with each bean that the computation leads to.
  func forEachBean(in environment: Environment, _ body: FrozenReference<Recipe>.Visitor) {
    switch self {
    case .outer(let hops, let number), .scoped(let number, let hops):
      environment.ancestor(hops).with { body($0, $0.recipe(number)) }
    case .slot(let slot): Operand.Place.outer(slot).forEachBean(in: environment, body)
    case .prototype(let number), .owned(let number, _): body(environment, environment.recipe(number))
    case .composed(let operands, _, _):
      for operand in operands { operand.place.forEachBean(in: environment, body) }
    case .collected(let computations, _, _):
      for computation in computations { computation.forEachBean(in: environment, body) }
    case .deferred, .absent, .provider, .part, .injection, .products: break
    }
  }
}
