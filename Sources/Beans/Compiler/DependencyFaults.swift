import BeansReflection

// The faults of dependencies that cannot be resolved.

extension BeanDefinition {
  /// Notes a fault of the bean's declaration.
  func note(_ cause: FaultCause, _ message: String, at origin: EnvironmentError.Origin? = nil) {
    note(fault(cause, message, at: origin))
  }

  /// Adds the failure of a resolution to the bean's faults, or to its refusal if only the scope is not open.
  func note(_ failure: EnvironmentError, of point: InjectionPoint, at origin: EnvironmentError.Origin?) {
    var named = fault(failure.cause, "\(point): \(failure.message)", steps: [step] + failure.steps, at: origin)
    named.scope = failure.scope
    guard failure.code == .scopeNotActive else { return note(named) }
    // The validator decides whether that is a fault: it depends on the bean's holder. See `Validator`.
    refusal = refusal ?? ValueBox(named)
  }

  /// Notes that no bean has an id by which an injection could find one.
  func noteMissingIds(for injection: ClassInjection) {
    let parameter = injection.setter.parameter
    let hint = graph.directory.hint {
      $0.id != nil && $0.answers(to: parameter.element, parameter.criteria(from: module))
    }
    note(.noIdOfType, "\(injection.point): no bean of type \(parameter.element) has an id\(hint)")
  }

  /// Notes that no `Injection` computes the value of a property.
  func noteUnserved(_ inject: Inject, at point: InjectionPoint) {
    note(
      .unservedInjection,
      "\(point): no Injection is defined that serves \(Swift.type(of: inject))"
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
