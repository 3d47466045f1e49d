/// The id of a bean or an alias in its environment, and the module that it is private to.
struct BeanId: Hashable, Sendable {
  let text: String
  /// The key of the module whose declarations alone find the id; nil where all declarations do.
  let module: ObjectIdentifier?

  init(_ text: String, privateTo module: ObjectIdentifier? = nil) { (self.text, self.module) = (text, module) }

  var isPrivate: Bool { module != nil }

  /// The id of the factory bean behind the product that has this id.
  var ofFactory: BeanId { BeanId("&\(text)", privateTo: module) }

  /// Most ids are private to no module, and are hashed like their text.
  func hash(into hasher: inout Hasher) {
    hasher.combine(text)
    if let module { hasher.combine(module) }
  }
}

extension FrozenSpec {
  /// The id that the declaration enters; nil for a bean without an id.
  var beanId: BeanId? { value.id.map { BeanId($0, privateTo: value.options?.value.privateTo) } }
}
