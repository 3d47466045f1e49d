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
  let ownership: FieldRecords.Ownership
  let owner: AnyClass

  private static let lazyPrefix = "$__lazy_storage_$_"

  /// The properties that `owner` itself declares, in order. No instance is made.
  package static func declared(by owner: AnyClass) -> [StoredField] {
    let inherited = _getSuperclass(owner).map { recursiveCount($0) } ?? 0
    let count = recursiveCount(owner)
    guard inherited < count else { return [] }
    let records = FieldRecords(of: owner)
    return (inherited..<count).map { index in
      StoredField(at: index, of: owner) { records?.ownership(at: index - inherited) ?? .unmanaged }
    }
  }

  /// Whether the name of one of `owner`'s own stored properties begins with an underscore. Costs less than to look at the
  /// properties.
  package static func hasUnderscored(in owner: AnyClass) -> Bool {
    if RuntimeLayout.hasFieldRecords { return FieldRecords(reading: owner)?.hasUnderscored ?? false }
    return declared(by: owner).contains { $0.name.hasPrefix("_") }
  }

  /// `index` counts from the outermost superclass's first property.
  private init(at index: Int, of owner: AnyClass, ownership: () -> FieldRecords.Ownership) {
    var field = unsafe beans_field()
    let metadata = unsafe recursiveChildMetadata(owner, index: index, fieldMetadata: &field)
    let stored = unsafe field.name.map { unsafe String(cString: $0) } ?? ""
    isLazy = stored.hasPrefix(Self.lazyPrefix)
    name = isLazy ? String(stored.dropFirst(Self.lazyPrefix.count)) : stored
    // The runtime answers the empty tuple where it does not know the type, or its values cannot be copied.
    type = unsafe metadata.map { unsafe unsafeBitCast($0, to: Any.Type.self) }.flatMap { $0 == Void.self ? nil : $0 }
    offset = recursiveChildOffset(owner, index: index)
    isVariable = unsafe field.is_variable
    self.ownership = unsafe field.is_strong ? .strong : ownership()
    self.owner = owner
  }

  /// Whether the compiler has added it, as the queue of an actor.
  var isSynthetic: Bool { name.hasPrefix("$") }

  /// Why values cannot be read from or written to the property's memory; nil where they can.
  var obstacle: String? {
    guard let type else { return "its values cannot be copied, or the runtime does not know its type" }
    switch ownership {
    case .unowned, .unmanaged: return "it is unowned: reading it could trap"
    case .strong, .weak: return TypeLayout.obstacle(type)
    }
  }
}

// Exported by the Swift runtime; the standard library's mirrors and `_forEachField` are built on them.

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func recursiveCount(_ type: Any.Type) -> Int

/// Metadata of the declared type (of `weak` ones, the optional).
@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func recursiveChildMetadata(
  _ type: Any.Type, index: Int, fieldMetadata: UnsafeMutablePointer<beans_field>
) -> UnsafeRawPointer?

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func recursiveChildOffset(_ type: Any.Type, index: Int) -> Int
