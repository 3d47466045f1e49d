extension Plan {
  /// Has the bean descriptors of declared classes made: their initializers are users' code, which must not run under the
  /// plan's lock. What one throws is thrown again when the compiler asks, and reported with the other faults.
  func prepareDescriptors() {
    var rest = ([self] + descendants).flatMap(\.declarations)
    while let declaration = rest.popLast() {
      if let type = declaration.type { prepareDescriptor(of: type, declaration.traits) }
      if let type = declaration.target { prepareDescriptor(of: type, .cached(of: type)) }
      if let type = declaration.constructor?.assembled?.type { prepareDescriptor(of: type, .cached(of: type)) }
      if declaration.mayHaveEmbedded { rest += declaration.embedded }
    }
  }

  private func prepareDescriptor(of type: Any.Type, _ traits: LifecycleTraits) {
    if traits.contains(.injected) { _ = try? BeanDescriptor.forType(type) }
  }
}
