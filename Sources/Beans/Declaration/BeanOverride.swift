import BeansReflection

/// An override of declarations by a test, or a prohibition to build them.
package struct BeanOverride: Sendable {
  /// The replacement of the declarations.
  enum Replacement: Sendable {
    /// A bean of that type.
    case bean(Any.Type, FactoryFunction)
    /// No bean: building the bean throws the error that the closure makes from its label.
    case refusal(@Sendable (String) -> EnvironmentError)
  }

  /// The type that lookups of the bean request.
  package let type: Any.Type
  package let id: String?
  package let qualifier: Any.Type?
  /// The scope that the bean must have; nil for any.
  package let scope: String?
  package let origin: EnvironmentError.Origin
  let replacement: Replacement

  /// Whether both match the same declarations.
  package func isSame(as other: BeanOverride) -> Bool {
    type == other.type && id == other.id && qualifier == other.qualifier && scope == other.scope
  }

  /// Replaces the declarations that match `type` with a bean.
  ///
  /// - Parameters:
  ///   - type: the type that lookups request.
  ///   - id: the declaration's id.
  ///   - qualifier: a qualifier that the declaration has.
  ///   - scope: the scope that the bean lives in.
  ///   - origin: the place of the override.
  ///   - factory: makes the bean; its parameters are resolved by their types.
  package init<T, Replaced, each D>(
    _ type: Replaced.Type, id: String?, qualifier: Any.Type?, scope: String?, at origin: EnvironmentError.Origin,
    factory: @escaping @Sendable (repeat each D) throws -> T
  ) {
    (self.type, self.id, self.qualifier, self.scope, self.origin) = (type, id, qualifier, scope, origin)
    let parameters = Parameter.all(repeat (each D).self)
    let function = FactoryFunction(T.self, parameters) { arguments in
      var arguments = arguments
      return try factory(repeat arguments.take(as: (each D).self))
    }
    replacement = .bean(T.self, function)
  }

  /// Forbids building the beans that match `type`: an attempt throws.
  ///
  /// - Parameters:
  ///   - type: the type that lookups request.
  ///   - id: the declaration's id.
  ///   - qualifier: a qualifier that the declaration has.
  ///   - scope: the scope that the bean lives in.
  ///   - origin: the place of the override.
  ///   - refusal: makes the error from the bean's label.
  package init(
    forbidding type: Any.Type, id: String?, qualifier: Any.Type?, scope: String?, at origin: EnvironmentError.Origin,
    refusal: @escaping @Sendable (String) -> EnvironmentError
  ) {
    (self.type, self.id, self.qualifier, self.scope, self.origin) = (type, id, qualifier, scope, origin)
    replacement = .refusal(refusal)
  }

  /// The name of the override in faults.
  var label: String {
    let verb = if case .refusal = replacement { "forbid" } else { "override" }
    let criteria = [
      id.map { "id '\($0)'" }, qualifier.map { "qualifier \($0)" }, scope.map { "scope '\($0)'" },
    ].compactMap(\.self)
    return "\(verb) \(type)\(criteria.isEmpty ? "" : " with \(criteria.joined(separator: ", "))")"
  }

  func fault(_ cause: FaultCause, _ message: String) -> EnvironmentError {
    EnvironmentError(cause: cause, message, path: [label], origin: origin)
  }

  /// Whether beans of that type match the override, judged by type alone.
  func isAnswered(by type: Any.Type) -> Bool { type == self.type || TypeRelation.isUsable(type, as: self.type) }
}
