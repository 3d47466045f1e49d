/// Decides which types have the same form in a stored property as in generic code.
///
/// The compiler stores functions with the calling convention of their exact type, and metatypes of values not at all;
/// generic code expects one form for all. Reading such a property by its address would be a wild jump.
enum TypeLayout {
  /// Returns the reason why a property of the type cannot be accessed by address; nil if it can.
  static func obstacle(_ type: Any.Type) -> String? {
    if type is AnyClass { return nil }
    guard RuntimeLayout.hasValueLayout else { return "this Swift runtime has \(type) in an unknown form" }
    switch MetadataKind.of(type) {
    case MetadataKind.opaque: return "\(type) belongs to the compiler"
    case MetadataKind.function:
      return "it holds a function, whose form in memory only the compiler knows"
    case MetadataKind.metatype:
      return instance(type) is AnyClass ? nil : "it holds the metatype of a value, which has no form in memory"
    case MetadataKind.tuple: return elements(type).lazy.compactMap(obstacle).first
    default:
      if unsafe isNoncopyable(unsafeBitCast(type, to: UnsafeRawPointer.self)) { return "\(type) cannot be copied" }
      return (type as? any OptionalType.Type).flatMap { obstacle($0.wrappedType) }
    }
  }

  /// Returns the element types of a tuple: its metadata is count, labels, then pairs of type and offset.
  static func elements(_ tuple: Any.Type) -> [Any.Type] {
    let metadata = unsafe unsafeBitCast(tuple, to: UnsafeRawPointer.self)
    return unsafe (0..<metadata.load(fromByteOffset: word, as: Int.self)).map { index in
      unsafe unsafeBitCast(
        metadata.load(fromByteOffset: (3 + 2 * index) * word, as: UnsafeRawPointer.self), to: Any.Type.self)
    }
  }

  /// Returns the type with this metatype.
  static func instance(_ metatype: Any.Type) -> Any.Type {
    let metadata = unsafe unsafeBitCast(metatype, to: UnsafeRawPointer.self)
    return unsafe unsafeBitCast(metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self), to: Any.Type.self)
  }

  /// Returns whether values must not be copied. The flag is in the value witness table, whose address precedes the
  /// metadata: eight functions, size, stride, flags.
  static func isNoncopyable(_ metadata: UnsafeRawPointer) -> Bool {
    let witnesses = unsafe metadata.load(fromByteOffset: -word, as: UnsafeRawPointer.self)
    return unsafe witnesses.load(fromByteOffset: 10 * word, as: UInt32.self) & 0x0080_0000 != 0
  }

  private static let word = unsafe MemoryLayout<UnsafeRawPointer>.size
}
