import BeansReflection

/// A declaration that does not count, because a condition of it does not hold: what hints name.
struct InactiveDeclaration: Sendable {
  /// The number of the declaration; 0 for an alias.
  let number: Int
  /// What lookups would have found the bean by: its own type, and what it makes as a factory bean.
  let types: [Any.Type]
  let id: String?
  var isPrimary = false
  /// Whether only exactly its type finds it.
  var isSeed = false
  /// Types that tell it from others of its type.
  var qualifiers: [ObjectIdentifier] = []
  /// The only module whose declarations would find it.
  var privateTo: ObjectIdentifier?
  /// How hints name it.
  let label: String
  let location: SourceLocation
  /// Which condition does not hold.
  let reason: String

  /// What messages end with.
  var hint: String { "; \(label) is declared at \(location.origin), but inactive: \(reason)" }

  func answers(to type: Any.Type) -> Bool {
    types.contains { $0 == type || !isSeed && TypeRelation.isUsable($0, as: type) }
  }

  func answers(to type: Any.Type, _ criteria: BeanDirectory.Criteria) -> Bool {
    answers(to: type) && isVisible(from: criteria.module)
      && criteria.qualifier.map { qualifiers.contains($0) } ?? true
  }

  /// Whether declarations of a module would find it, or those of none.
  func isVisible(from module: ObjectIdentifier?) -> Bool { privateTo == nil || privateTo == module }

  /// Whether it would have the id, or the factory behind it.
  func hasId(_ id: String, from module: ObjectIdentifier?) -> Bool {
    isVisible(from: module) && self.id.map { $0 == id || "&\($0)" == id } ?? false
  }
}

extension BeanDirectory {
  /// What to say of the declarations that are meant, here, further out and below, of which some may do.
  func hint(below: ArraySlice<BeanDirectory> = [], forInactive isMeant: (InactiveDeclaration) -> Bool) -> String {
    let found = (chain.map(\.directory) + below).flatMap { $0.inactive.filter(isMeant) }
    return found.prefix(3).map(\.hint).joined()
  }

  func hint(forInactive type: Any.Type, _ criteria: Criteria, below: ArraySlice<BeanDirectory> = []) -> String {
    hint(below: below) { $0.answers(to: type, criteria) }
  }

  func hint(forInactive id: String, from module: ObjectIdentifier?, below: ArraySlice<BeanDirectory> = []) -> String {
    hint(below: below) { $0.hasId(id, from: module) }
  }

  /// What to say where a bean with an id is not what a parameter asks for.
  func hint(forInactive id: String?, as parameter: Parameter, from module: ObjectIdentifier?) -> String {
    let criteria = parameter.criteria(from: module)
    return id.map { id in hint { $0.id == id && $0.answers(to: parameter.element, criteria) } } ?? ""
  }

  func hint(forInactive trait: BeanTraits) -> String {
    hint { $0.types.contains { BeanTraits.of($0).contains(trait) } }
  }
}
