import BeansReflection

/// A declaration that does not count, because a condition of it does not hold: what hints name.
struct InactiveDeclaration: Sendable {
  /// The number of the declaration; 0 for an alias.
  let number: Int
  /// What lookups would have found the bean by: its own type, and what it makes as a factory bean.
  let types: [Any.Type]
  let id: String?
  let isPrimary: Bool
  /// How hints name it.
  let label: String
  let location: SourceLocation
  /// Which condition does not hold.
  let reason: String

  /// What messages end with.
  var hint: String { "; \(label) is declared at \(location.origin), but inactive: \(reason)" }

  func answers(to type: Any.Type) -> Bool { types.contains { $0 == type || TypeRelation.isUsable($0, as: type) } }
}

extension BeanDirectory {
  /// What to say of the declarations that are meant, here, further out and below, of which some may do.
  func hint(below: [BeanDirectory] = [], forInactive isMeant: (InactiveDeclaration) -> Bool) -> String {
    let found = (chain.map(\.directory) + below).flatMap { $0.inactive.filter(isMeant) }
    return found.prefix(3).map(\.hint).joined()
  }

  func hint(forInactive type: Any.Type, below: [BeanDirectory] = []) -> String {
    hint(below: below) { $0.answers(to: type) }
  }

  func hint(forInactive id: String, below: [BeanDirectory] = []) -> String {
    // The factory behind a product has the product's id with a mark.
    hint(below: below) { $0.id.map { $0 == id || "&\($0)" == id } ?? false }
  }

  func hint(forInactive trait: BeanTraits) -> String {
    hint { $0.types.contains { BeanTraits.of($0).contains(trait) } }
  }
}
