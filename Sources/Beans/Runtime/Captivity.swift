/// Lookups by factories of beans with a shorter lifetime than the bean that the factory makes: the factory could retain
/// them.
extension Environment {
  /// Throws if the thread is building a bean that outlives one that an operand leads to.
  func checkCaptivity(of operand: Operand) throws {
    guard ResolutionContext.keeper(above: self) != nil else { return }
    var walk = CaptivityWalk()
    try checkCaptivity(of: operand, &walk)
  }

  /// Throws if the thread is building a bean that outlives one that a computation leads to.
  func checkCaptivity(of computation: Computation) throws {
    guard ResolutionContext.keeper(above: self) != nil else { return }
    var walk = CaptivityWalk()
    try checkCaptivity(of: computation, &walk)
  }

  /// Throws if the thread is building a bean that outlives the bean of a slot.
  ///
  /// A child that the same build has opened may be used: the code that opens a child accounts for the child's end.
  ///
  /// - Parameters:
  ///   - slot: the slot of a bean that was looked up, or that a prototype on the path takes.
  ///   - takers: the prototypes on the path to the bean, outermost first.
  func checkCaptivity(of slot: Int32, through takers: [EnvironmentError.Step] = []) throws {
    let recipe = recipe(slot)
    guard !recipe.value.isSeed, let holder = ResolutionContext.holder(above: self) else { return }
    let (bean, holding) = (recipe.value.definition, holder.value.definition)
    throw bean.fault(
      .captiveDependency,
      "\(holding.label) (\(holding.lifetime.name)) is being built and looks up a bean with a shorter life "
        + "(\(bean.lifetime.name)): \(bean.label); keep a Provider, and call it where the bean is used",
      steps: [holding.step] + takers + [bean.step])
  }

  private func checkCaptivity(of operand: Operand, _ walk: inout CaptivityWalk) throws {
    switch operand.place {
    case .own(let slot), .counted(let slot): try checkCaptivity(of: slot, through: walk.takers)
    case .computed(let number):
      try core.compiledPlan.with { try checkCaptivity(of: $0.computations[Int(number)], &walk) }
    // A slot of an environment that is not a child of a factory.
    case .outer: break
    }
  }

  private func checkCaptivity(of computation: Computation, _ walk: inout CaptivityWalk) throws {
    switch computation {
    case .outer(let hops, let slot): try ancestor(hops).with { try $0.checkCaptivity(of: slot, through: walk.takers) }
    case .prototype(let number), .owned(let number, _), .products(let number):
      let recipe = recipe(number)
      guard walk.seen.insert(number).inserted else { return }
      walk.takers.append(recipe.value.step)
      try recipe.value.operands.forEach { try checkCaptivity(of: $0, &walk) }
      try recipe.value.properties.forEach { try checkCaptivity(of: $0, &walk) }
      walk.takers.removeLast()
    case .composed(let operands, _, _):
      for operand in operands { try checkCaptivity(of: operand, &walk) }
    case .collected(let computations, _, _): for inner in computations { try checkCaptivity(of: inner, &walk) }
    case .deferred(let inner, _, _): try checkCaptivity(of: inner, &walk)
    // A user's scope decides for itself, and a provider looks its bean up when called.
    case .scoped, .provider: break
    case .slot, .absent, .environment, .configuration, .injection: break
    }
  }
}

/// The path through prototypes to the beans that are checked.
private struct CaptivityWalk {
  /// The numbers of the prototypes already visited: with a `Lazy`, prototypes may need each other.
  var seen: Set<Int32> = []
  /// The prototypes on the path to the current one, outermost first.
  var takers: [EnvironmentError.Step] = []
}
