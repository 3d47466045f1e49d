extension ReferenceRules {
  /// A declaration whose role leads to an outcome that the contract leaves to the container, and a role that does not.
  var undecided: (declaration: Int, role: Declaration.Role)? {
    for decorator in decorators.joined() {
      // The contract leaves open whether faulty declarations are decorated.
      let isSound = faults.joined().allSatisfy { $0.declaration == decorator.line }
      if !isSound { return (decorator.line, .bean) }
      // The contract leaves open whether a bean is decorated whose scope opens nowhere further in.
      if let scope = decorator.scope, !decorator.isPrototype, !decorator.isOfOwnScope, !isKnown(scope, decorator.level)
      {
        return (decorator.line, .bean)
      }
      // A decorator cannot distinguish a prototype from a kept bean if the one has the object of the other.
      if case .decorator(let bean, _) = decorator.part, bean.isPrototype, bean.factory.returnsAnother {
        return (bean.factory.number, bean.factory.isFactoryBean ? .factoryBean(returnsTaken: false) : .bean)
      }
    }
    for bean in (beans + decorators).joined() where bean.factory.returnsAnother && bean.kind != .mill {
      switch bean.part {
      case .product:
        // An earlier build may have created a prototype that the factory bean took, or the same build.
        let first = bean.factory.parameters?.first
        if takesPrototype(first.map { [$0] } ?? [], bean) { return (bean.line, .factoryBean(returnsTaken: false)) }
      case .only:
        // The order of prototypes created for the bean is not visible if its object is another bean.
        if bean.isPrototype, takesPrototype(bean.parameters.dropFirst(), bean) { return (bean.factory.number, .bean) }
      case .decorator:
        if bean.isPrototype, takesPrototype(bean.parameters[...], bean) {
          return (bean.line, .decorator(returnsInner: false))
        }
      }
    }
    return nil
  }

  /// Whether any bean owns others.
  var hasOwners: Bool {
    (beans + decorators).joined().flatMap(\.parameters).contains {
      if case .bean(_, .owned) = $0.wish { true } else { false }
    }
  }

  /// Returns whether parameters of a bean receive a prototype in any environment in which the bean is built.
  private func takesPrototype(_ parameters: some Sequence<Parameter>, _ bean: ReferenceBean) -> Bool {
    let levels = scenario.levels.indices.filter { scenario.chain(from: $0).contains(bean.level) }
    return parameters.contains { parameter in
      levels.contains { level in
        ((try? targets(of: .parameter(parameter), from: level)) ?? []).contains(where: \.isPrototype)
      }
    }
  }
}
