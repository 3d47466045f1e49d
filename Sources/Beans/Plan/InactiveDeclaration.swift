import BeansReflection

/// A declaration that is inactive because one of its conditions does not hold. Hints name it.
package struct InactiveDeclaration: Sendable {
  /// The number of the declaration; 0 for an alias.
  package let number: Int
  /// The types by which lookups would find the bean: its own type, and the type of its products as a factory bean.
  let types: [Any.Type]
  let id: String?
  var isPrimary = false
  /// Whether only lookups by exactly its type find it.
  var isSeed = false
  /// Types that distinguish it from others of its type.
  var qualifiers: [ObjectIdentifier] = []
  /// The only module whose declarations would find it.
  var privateTo: ObjectIdentifier?
  /// The name of the declaration in hints.
  let label: String
  let location: SourceLocation
  /// The condition that does not hold, in words.
  package let reason: String

  /// The hint at the end of messages.
  @inline(never)
  package var hint: String { "; \(label) is declared at \(location.origin), but inactive: \(reason)" }

  package func answers(to type: Any.Type) -> Bool {
    types.contains { $0 == type || !isSeed && TypeRelation.isUsable($0, as: type) }
  }

  func answers(to type: Any.Type, _ criteria: BeanDirectory.Criteria) -> Bool {
    answers(to: type) && isVisible(from: criteria.module)
      && criteria.qualifier.map { qualifiers.contains($0) } ?? true
  }

  /// Whether the declarations of a module would find the bean; without a module, declarations outside all modules.
  func isVisible(from module: ObjectIdentifier?) -> Bool { privateTo == nil || privateTo == module }

  /// Whether the bean, or the factory behind it, would have the id.
  func hasId(_ id: String, from module: ObjectIdentifier?) -> Bool {
    isVisible(from: module) && self.id.map { $0 == id || "&\($0)" == id } ?? false
  }
}

extension BeanDirectory {
  /// Returns hints at up to three matching declarations, here, further out and below.
  @inline(never)
  func hint(below: ArraySlice<BeanDirectory> = [], forInactive isMeant: (InactiveDeclaration) -> Bool) -> String {
    let found = (chain.map(\.directory) + below).flatMap(\.inactive).filter(isMeant)
    return found.prefix(3).map(\.hint).joined()
  }

  /// Returns hints for a bean that has the id but not the type of a parameter.
  @inline(never)
  func hint(forInactive id: String?, as parameter: Parameter, from module: ObjectIdentifier?) -> String {
    let criteria = parameter.criteria(from: module)
    return id.map { id in hint { $0.id == id && $0.answers(to: parameter.element, criteria) } } ?? ""
  }

  @inline(never)
  func hint(forInactive trait: BeanTraits) -> String {
    hint { $0.types.contains { BeanTraits.of($0).contains(trait) } }
  }
}
