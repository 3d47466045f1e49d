import Beans

/// An override of declarations by a test, or a prohibition to build them.
struct BeanOverride: Sendable {
  /// The type that lookups of the bean request.
  let type: Any.Type
  let id: String?
  let qualifier: Any.Type?
  /// The scope that the bean must have; nil for any.
  let scope: String?
  let origin: EnvironmentError.Origin
  let factory: ReplacingFactory

  /// Whether both match the same declarations.
  func isSame(as other: BeanOverride) -> Bool {
    type == other.type && id == other.id && qualifier == other.qualifier && scope == other.scope
  }

  /// The name of the override in faults.
  var label: String {
    let verb = factory.type == nil ? "forbid" : "override"
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

  /// Returns the beans that a lookup with the override's criteria would find, narrowed to the best match.
  func candidates(among beans: [BeanDefinition]) -> [BeanDefinition] {
    let found = beans.filter { bean in
      if !isAnswered(by: bean.type) { return false }
      if let id, bean.id != id { return false }
      if let scope, bean.scopeName != scope { return false }
      return qualifier.map { bean.qualifiers.contains(ObjectIdentifier($0)) } ?? true
    }
    // Beans that are private to a module are used only if no other bean matches.
    let publicBeans = found.filter { !$0.isPrivate }
    let known = publicBeans.isEmpty ? found : publicBeans
    let exact = known.filter { $0.type == type }
    let best = exact.isEmpty ? known : exact
    let primary = best.filter(\.isPrimary)
    return primary.count == 1 ? primary : best
  }
}

extension BeanDefinition {
  /// The name of the bean in faults, with the place of its declaration.
  var text: String { "\(label) (\(origin))" }
}
