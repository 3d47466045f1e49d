extension Plan {
  /// Has the bean descriptors of declared classes made: their initializers are users' code, which must not run under the
  /// plan's lock. What one throws is thrown again when the compiler asks, and reported with the other faults.
  func prepareDescriptors() {
    var rest = ([self] + descendants).flatMap(\.declarations)
    while let declaration = rest.popLast() {
      for type in [declaration.type, declaration.constructor?.assembled?.type] {
        if let type = type as? any BeanDescriptorInitializer.Type, let type = type as? AnyClass {
          _ = try? BeanDescriptor.forClass(type)
        }
      }
      rest += declaration.embedded
    }
  }
}
