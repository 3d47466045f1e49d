/// Beans that a factory looks up and that end before the bean it makes: nothing keeps the factory from keeping them.
extension Environment {
  /// Throws where the thread is building a bean that outlives one that an operand leads to.
  func checkCaptivity(of operand: Operand) throws {
    guard ResolutionContext.keeper(above: self) != nil else { return }
    var walk = CaptivityWalk()
    try checkCaptivity(of: operand, &walk)
  }

  /// Throws where the thread is building a bean that outlives one that a computation leads to.
  func checkCaptivity(of computation: Computation) throws {
    guard ResolutionContext.keeper(above: self) != nil else { return }
    var walk = CaptivityWalk()
    try checkCaptivity(of: computation, &walk)
  }

  /// Throws where the thread is building a bean that outlives the one of a slot.
  ///
  /// A child that was opened by the same build may be used: whoever has opened it knows that it ends.
  ///
  /// - Parameters:
  ///   - slot: what has been looked up, or is taken by prototypes that have been.
  ///   - takers: these prototypes, outermost first.
  func checkCaptivity(of slot: Int32, through takers: [EnvironmentError.Step] = []) throws {
    let recipe = recipe(slot)
    guard !recipe.value.isSeed, let holder = ResolutionContext.holder(above: self) else { return }
    let (bean, holding) = (recipe.value.entry, holder.value.entry)
    throw bean.fault(
      .captiveDependency,
      "\(holding.label) (\(holding.lifetime.name)) is being built and outlives what it looks up "
        + "(\(bean.lifetime.name)): \(bean.label); keep a Provider, and call it where the bean is used",
      steps: [holding.step] + takers + [bean.step])
  }

  private func checkCaptivity(of operand: Operand, _ walk: inout CaptivityWalk) throws {
    switch operand.place {
    case .own(let slot), .counted(let slot): try checkCaptivity(of: slot, through: walk.takers)
    case .computed(let number):
      try core.compiledPlan.with { try checkCaptivity(of: $0.computations[Int(number)], &walk) }
    // A slot of an environment that is no child of a factory.
    case .outer: break
    }
  }

  private func checkCaptivity(of computation: Computation, _ walk: inout CaptivityWalk) throws {
    switch computation {
    case .outer(let hops, let slot): try ancestor(hops).with { try $0.checkCaptivity(of: slot, through: walk.takers) }
    case .prototype(let number), .owned(let number, _), .products(let number):
      let recipe = recipe(number)
      guard walk.seen.insert(number).inserted else { return }
      walk.takers.append(recipe.value.entry.step)
      try recipe.value.operands.forEach { try checkCaptivity(of: $0, &walk) }
      try recipe.value.properties.forEach { try checkCaptivity(of: $0, &walk) }
      walk.takers.removeLast()
    case .all(let operands, _), .composed(let operands, _, _):
      for operand in operands { try checkCaptivity(of: operand, &walk) }
    case .collected(let computations, _, _): for inner in computations { try checkCaptivity(of: inner, &walk) }
    case .deferred(let inner, _): try checkCaptivity(of: inner, &walk)
    // A user's scope decides for itself, and a provider looks its bean up when it is called.
    case .scoped, .provider: break
    case .absent, .environment, .configuration, .injection: break
    }
  }
}

/// The way through prototypes to the beans that are judged.
private struct CaptivityWalk {
  /// The numbers of those that have been looked at: by a `Lazy` they may need each other.
  var seen: Set<Int32> = []
  /// The prototypes that lead to the one that is looked at now, outermost first.
  var takers: [EnvironmentError.Step] = []
}
