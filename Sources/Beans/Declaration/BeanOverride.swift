import BeansReflection

/// What a test puts in the place of declarations, or forbids.
package struct BeanOverride: Sendable {
  /// What takes the place.
  enum Replacement: Sendable {
    /// A bean of that type.
    case bean(Any.Type, FactoryFunction)
    /// Nothing: building the bean throws what the closure makes of its label.
    case refusal(@Sendable (String) -> EnvironmentError)
  }

  /// What lookups of the bean ask for.
  package let type: Any.Type
  package let id: String?
  package let qualifier: Any.Type?
  /// The scope that the bean has to live in; nil for any.
  package let scope: String?
  package let origin: EnvironmentError.Origin
  let replacement: Replacement

  /// Whether both mean the same declarations.
  package func isSame(as other: BeanOverride) -> Bool {
    type == other.type && id == other.id && qualifier == other.qualifier && scope == other.scope
  }

  /// Puts a bean in the place of what answers to `type`.
  ///
  /// - Parameters:
  ///   - type: what lookups ask for.
  ///   - id: the declaration's id.
  ///   - qualifier: a qualifier that the declaration has.
  ///   - scope: the scope that the bean lives in.
  ///   - origin: where the override stands.
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

  /// Has building what answers to `type` throw.
  ///
  /// - Parameters:
  ///   - type: what lookups ask for.
  ///   - id: the declaration's id.
  ///   - qualifier: a qualifier that the declaration has.
  ///   - scope: the scope that the bean lives in.
  ///   - origin: where the override stands.
  ///   - refusal: makes the error of the bean's label.
  package init(
    forbidding type: Any.Type, id: String?, qualifier: Any.Type?, scope: String?, at origin: EnvironmentError.Origin,
    refusal: @escaping @Sendable (String) -> EnvironmentError
  ) {
    (self.type, self.id, self.qualifier, self.scope, self.origin) = (type, id, qualifier, scope, origin)
    replacement = .refusal(refusal)
  }

  /// What faults call it.
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

  /// Whether a bean of that type is meant, as far as types tell.
  func isAnswered(by type: Any.Type) -> Bool { type == self.type || TypeRelation.isUsable(type, as: self.type) }
}
