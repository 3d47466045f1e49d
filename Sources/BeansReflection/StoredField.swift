import CBeansRuntime

/// A stored property as the runtime's metadata describes it.
package struct StoredField {
  /// The name as declared; for a `lazy` property, without the compiler's prefix.
  package let name: String
  /// The declared type; for a `lazy` property, the optional that it is stored in; nil if the runtime does not have it.
  package let type: Any.Type?
  /// The offset from the start of an instance. Read from the metadata of this process, so right for superclasses of any
  /// library.
  package let offset: Int
  let isVariable: Bool
  let isLazy: Bool
  let ownership: FieldRecords.Ownership
  let owner: AnyClass

  private static let lazyPrefix = "$__lazy_storage_$_"

  /// Returns the properties that `owner` itself declares, in order. Makes no instance.
  package static func declared(by owner: AnyClass) -> [StoredField] {
    let inherited = _getSuperclass(owner).map { recursiveCount($0) } ?? 0
    let count = recursiveCount(owner)
    guard inherited < count else { return [] }
    let records = RuntimeLayout.hasFieldRecords ? FieldRecords(of: owner) : nil
    return (inherited..<count).map { index in
      StoredField(at: index, of: owner) { records?.ownership(at: index - inherited) ?? .unmanaged }
    }
  }

  /// Returns the names and types of the stored properties of a struct, in order; none for another type. Properties whose
  /// type the runtime does not have are left out.
  package static func names(ofStruct type: Any.Type) -> [(name: String, type: Any.Type)] {
    guard MetadataKind.of(type) == MetadataKind.struct else { return [] }
    return (0..<recursiveCount(type)).compactMap { index in
      let (name, _, declared) = unsafe read(index, of: type)
      return declared.map { (name, $0) }
    }
  }

  /// Returns whether the name of one of `owner`'s own stored properties begins with an underscore. Cheaper than reading
  /// the properties.
  package static func hasUnderscored(in owner: AnyClass) -> Bool {
    if RuntimeLayout.hasFieldRecords { return FieldRecords(of: owner)?.hasUnderscored ?? false }
    return declared(by: owner).contains { $0.name.hasPrefix("_") }
  }

  /// Creates the field at `index`, which starts at the outermost superclass's first property.
  private init(at index: Int, of owner: AnyClass, ownership: () -> FieldRecords.Ownership) {
    let (stored, field, type) = unsafe Self.read(index, of: owner)
    isLazy = stored.hasPrefix(Self.lazyPrefix)
    name = isLazy ? String(stored.dropFirst(Self.lazyPrefix.count)) : stored
    self.type = type
    offset = recursiveChildOffset(owner, index: index)
    isVariable = unsafe field.is_variable
    self.ownership = unsafe field.is_strong ? .strong : ownership()
    self.owner = owner
  }

  /// Reads the record of a field: its name, its flags, and its type.
  private static func read(_ index: Int, of type: Any.Type) -> (name: String, field: beans_field, type: Any.Type?) {
    var field = unsafe beans_field()
    let metadata = unsafe recursiveChildMetadata(type, index: index, fieldMetadata: &field)
    let name = unsafe field.name.map { unsafe String(cString: $0) } ?? ""
    // The runtime returns the empty tuple if it does not have the type, or if its values cannot be copied.
    let declared = unsafe metadata.map { unsafe unsafeBitCast($0, to: Any.Type.self) }
    return unsafe (name, field, declared.flatMap { $0 == Void.self ? nil : $0 })
  }

  /// Whether the compiler has added the property, such as the queue of an actor.
  var isSynthetic: Bool { name.hasPrefix("$") }

  /// The reason why the property's memory cannot be read or written; nil if it can.
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

/// Returns the metadata of the declared type (for a `weak` property, of the optional).
@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func recursiveChildMetadata(
  _ type: Any.Type, index: Int, fieldMetadata: UnsafeMutablePointer<beans_field>
) -> UnsafeRawPointer?

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func recursiveChildOffset(_ type: Any.Type, index: Int) -> Int
