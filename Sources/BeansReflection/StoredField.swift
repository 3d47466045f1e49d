import CBeansRuntime

/// A stored property as the runtime's metadata describes it.
package struct StoredField {
  /// As declared; that of a `lazy` property without the compiler's prefix.
  package let name: String
  /// The declared type; that of a `lazy` property as the optional it is stored in; nil where the runtime cannot say.
  package let type: Any.Type?
  /// From the start of an instance. Read from the metadata of this process, so right for superclasses of any library.
  package let offset: Int
  let isVariable: Bool
  let isLazy: Bool
  let ownership: beans_ownership
  let owner: AnyClass

  private static let lazyPrefix = "$__lazy_storage_$_"

  /// The properties that `owner` itself declares, in order. No instance is made.
  package static func declared(by owner: AnyClass) -> [StoredField] {
    let metadata = unsafeBitCast(owner, to: UnsafeRawPointer.self)
    let inherited = _getSuperclass(owner).map { beans_field_count(unsafeBitCast($0, to: UnsafeRawPointer.self)) } ?? 0
    let count = beans_field_count(metadata)
    guard inherited < count else { return [] }
    return (inherited..<count).map { index in
      StoredField(beans_field(metadata, index, index - inherited), of: owner)
    }
  }

  private init(_ field: beans_field, of owner: AnyClass) {
    let stored = field.name.map { String(cString: $0) } ?? ""
    isLazy = stored.hasPrefix(Self.lazyPrefix)
    name = isLazy ? String(stored.dropFirst(Self.lazyPrefix.count)) : stored
    // The runtime answers the empty tuple where it does not know the type, or its values cannot be copied.
    type = field.type.map { unsafeBitCast($0, to: Any.Type.self) }.flatMap { $0 == Void.self ? nil : $0 }
    offset = field.offset
    isVariable = field.is_variable
    ownership = field.ownership
    self.owner = owner
  }

  /// Whether the compiler has added it, as the queue of an actor.
  var isSynthetic: Bool { name.hasPrefix("$") }

  /// Why values cannot be read from or written to the property's memory; nil where they can.
  var obstacle: String? {
    guard let type else { return "its values cannot be copied, or the runtime does not know its type" }
    switch ownership {
    case beans_unowned, beans_unmanaged: return "it is unowned: reading it could trap"
    default: return TypeLayout.obstacle(type)
    }
  }
}
