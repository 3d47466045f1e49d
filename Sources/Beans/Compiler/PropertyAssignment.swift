import BeansReflection

/// A property that the compiled bean sets.
struct PropertyAssignment {
  var code: BeanCode.Property
  /// The value, if it is known at startup.
  let dependency: PlacedBean.Dependency?
  /// The name of the property in graphs.
  let point: InjectionPoint
  /// The property of the declaration, if the declaration sets it.
  var declared: PropertyInjection?

  /// Whether a key path of the declaration may lead to the property of an injection.
  func mayBe(_ injection: ClassInjection) -> Bool { declared?.sets(injection) == .some(nil) }
}

extension [PropertyAssignment] {
  /// Returns the assignments of a declaration and those of its class, in the order in which they are made.
  func ordered(with injected: [PropertyAssignment]) -> [PropertyAssignment] {
    // A key path may lead to an injected property, so it is set later: the declaration overrides the injection.
    let isLast = { (property: PropertyAssignment) in !injected.isEmpty && property.declared?.isPath == true }
    return filter { !isLast($0) } + injected + filter(isLast)
  }

  /// Defers the fault of an injection: the key paths that may lead to its property are set first, and the fault is
  /// thrown if the property still has its stopgap.
  mutating func deferFault(_ fault: EnvironmentError, of injection: ClassInjection) {
    let stopgap = injection.stopgap
    let candidates = indices.filter { self[$0].mayBe(injection) }
    for index in candidates {
      let set = self[index].code.set
      let (isFirst, isLast) = (index == candidates.first, index == candidates.last)
      self[index].code = BeanCode.Property { object, argument in
        if isFirst {
          argument.object?.retain()
          stopgap?.set(object, argument)
        }
        try set(object, argument)
        if isLast, stopgap?.isLeft(object) == true { throw fault }
      }
    }
  }
}
