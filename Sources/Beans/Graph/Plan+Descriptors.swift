extension Plan {
  /// Has the bean descriptors of declared classes made: their initializers are users' code, which must not run under the
  /// plan's lock. What one throws is thrown again when the compiler asks, and reported with the other faults.
  func prepareDescriptors() {
    var rest = ([self] + descendants).flatMap(\.declarations)
    while let declaration = rest.popLast() {
      for case let type? in [declaration.type, declaration.target]
      where LifecycleTraits.cached(of: type).contains(.injected) { _ = try? BeanDescriptor.forType(type) }
      rest += declaration.embedded
    }
  }
}
