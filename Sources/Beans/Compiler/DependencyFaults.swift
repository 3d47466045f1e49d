import BeansReflection

// The faults of dependencies that cannot be resolved.

extension PlacedBean {
  /// Notes a fault of the bean's declaration.
  func note(_ cause: FaultCause, _ message: String, at origin: EnvironmentError.Origin? = nil) {
    note(definition.fault(cause, message, at: origin))
  }

  /// Adds the failure of a resolution to the bean's faults, or to its refusal if only the scope is not open.
  func note(_ failure: EnvironmentError, of point: InjectionPoint, at origin: EnvironmentError.Origin?) {
    var named = definition.fault(
      cause(of: failure), "\(point): \(failure.message)\(hint(for: failure, of: point))",
      steps: [definition.step] + failure.steps, at: origin)
    named.scope = failure.scope
    guard failure.code == .scopeNotActive else { return note(named) }
    // The validator decides whether that is a fault: it depends on the bean's holder. See `Validator`.
    refusal = refusal ?? ValueBox(named)
  }

  /// Returns the cause for a bean that takes another one. A bean that is kept would keep one of children beyond its life.
  private func cause(of failure: EnvironmentError) -> FaultCause {
    guard failure.cause == .onlyInChildren else { return failure.cause }
    return definition.lifetime == .prototype || definition.product != nil ? .onlyInChildren : .captiveOfChildren
  }

  /// Returns a hint for a parameter whose type is often that of a default argument.
  private func hint(for failure: EnvironmentError, of point: InjectionPoint) -> String {
    guard point.isParameter, failure.cause == .unknownBean, let missing = failure.path.last else { return "" }
    guard Self.typesOfDefaults.contains(missing) else { return "" }
    return "; a default argument is not used here: leave it out by a closure, such as { \(definition.type)(store: $0) }"
  }

  /// The types that default arguments usually have.
  private static var typesOfDefaults: Set<String> {
    [
      "Int", "Int32", "Int64", "UInt", "UInt16", "Double", "Float", "Bool", "String", "Character", "Duration", "Date",
      "URL",
    ]
  }

  /// Notes that no bean has an id by which an injection could find one.
  func noteMissingIds(for injection: ClassInjection) {
    let parameter = injection.setter.parameter
    let hint = graph.directory.hint {
      $0.id != nil && $0.answers(to: parameter.element, parameter.criteria(from: definition.module))
    }
    note(.noIdOfType, "\(injection.point): no bean of type \(parameter.element) has an id\(hint)")
  }

  /// Notes that no provider computes the value of a property.
  func noteUnserved(_ request: AnyObject, at point: InjectionPoint) {
    note(
      .unservedInjection,
      "\(point): no Injection is defined that serves \(Swift.type(of: request))"
        + graph.directory.hint(forInactive: BeanTraits.injection))
  }
}

extension BeanDirectory {
  /// Returns the fault of a dependency on a declaration that is no bean here; nil if the declaration has errors, which
  /// have a report of their own.
  func fault(ofDeclaration spec: BeanSpec) -> EnvironmentError? {
    let name = spec.type.map { "\($0)" } ?? "bean"
    if isDeclared(spec.number) {
      if !spec.isAbstract { return nil }
      return EnvironmentError(
        cause: .onlyTemplate, "the declaration of \(name) is abstract: a template, not a bean")
    }
    let hint = hint { $0.number == spec.number }
    if hint.isEmpty {
      return EnvironmentError(
        cause: .undefinedDeclaration,
        "the declaration of \(name) was never defined in an environment that can be seen here")
    }
    return EnvironmentError(cause: .inactiveBean, "the declaration of \(name) does not count\(hint)")
  }
}
