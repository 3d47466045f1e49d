/// Rejects lookups by factories of beans with a shorter lifetime than the bean that the factory makes: the factory could
/// retain them.
struct CaptivityCheck {
  private let environment: Environment
  /// The numbers of the prototypes already visited: with a `Lazy`, prototypes may need each other.
  private var seen: Set<Int32> = []
  /// The prototypes on the path to the current bean, outermost first.
  private var takers: [EnvironmentError.Step] = []

  /// Returns nil unless the thread is building a bean that is kept further out than the environment.
  @inline(__always)
  init?(of environment: Environment) {
    if ResolutionContext.innermost == nil || ResolutionContext.keeper(above: environment) == nil { return nil }
    self.environment = environment
  }

  /// Throws if the bean under construction outlives the bean of a slot.
  @inline(__always)
  static func check(_ slot: Int32, of environment: Environment) throws {
    if ResolutionContext.innermost != nil { try check(slot, of: environment, through: []) }
  }

  /// A child that the same build has opened may be used: the code that opens a child accounts for the child's end.
  @inline(never)
  private static func check(
    _ slot: Int32, of environment: Environment, through takers: [EnvironmentError.Step]
  ) throws {
    let recipe = environment.recipe(slot)
    guard !recipe.value.isSeed, let holder = ResolutionContext.holder(above: environment) else { return }
    let (bean, holding) = (recipe.value.definition, holder.value.definition)
    throw bean.fault(
      .captiveDependency,
      "\(holding.label) (\(holding.lifetime.name)) is being built and looks up a bean with a shorter life "
        + "(\(bean.lifetime.name)): \(bean.label); keep a Provider, and call it where the bean is used",
      steps: [holding.step] + takers + [bean.step])
  }

  /// Throws if the bean under construction outlives one that an operand leads to.
  mutating func check(_ operand: Operand) throws {
    switch operand.place {
    case .own(let slot), .counted(let slot): try Self.check(slot, of: environment, through: takers)
    case .computed(let number): try check(environment.core.compiledPlan.with { $0.computations[Int(number)] })
    // A slot of an environment that is not a child of a factory.
    case .outer: break
    }
  }

  /// Throws if the bean under construction outlives one that a computation leads to.
  mutating func check(_ computation: Computation) throws {
    switch computation {
    case .outer(let hops, let slot):
      try environment.ancestor(hops).with { try Self.check(slot, of: $0, through: takers) }
    case .prototype(let number), .owned(let number, _), .products(let number):
      let recipe = environment.recipe(number)
      guard seen.insert(number).inserted else { return }
      takers.append(recipe.value.definition.step)
      try recipe.value.operands.forEach { try check($0) }
      try recipe.value.properties.forEach { try check($0) }
      takers.removeLast()
    case .composed(let operands, _, _):
      for operand in operands { try check(operand) }
    case .collected(let computations, _, _): for inner in computations { try check(inner) }
    case .deferred(let inner, _, _): try check(inner)
    // A user's scope decides for itself, and a provider looks its bean up when called.
    case .scoped, .provider: break
    case .slot, .absent, .part, .injection: break
    }
  }
}
