import CBeansRuntime

/// Which types look the same in a stored property as in generic code.
///
/// The compiler stores functions with the calling convention of their exact type, and metatypes of values not at all;
/// generic code expects one form for all. Reading such a property by its address would be a wild jump.
enum TypeLayout {
  /// Why a property of the type cannot be accessed by address; nil where it can.
  static func obstacle(_ type: Any.Type) -> String? {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    switch metadata.load(as: UInt.self) {
    case 0x300: return "\(type) belongs to the compiler"
    case 0x302: return "it holds a function, whose form in memory only the compiler knows"
    case 0x304:
      let instance = unsafeBitCast(metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self), to: Any.Type.self)
      return instance is AnyClass ? nil : "it holds the metatype of a value, which has no form in memory"
    case 0x301: return elements(metadata).lazy.compactMap(obstacle).first
    default:
      if beans_is_noncopyable(metadata) { return "\(type) cannot be copied" }
      return (type as? any OptionalType.Type).flatMap { obstacle($0.wrappedType) }
    }
  }

  /// The element types of a tuple's metadata: count, labels, then pairs of type and offset.
  private static func elements(_ tuple: UnsafeRawPointer) -> [Any.Type] {
    (0..<tuple.load(fromByteOffset: word, as: Int.self)).map { index in
      let element = tuple.load(fromByteOffset: (3 + 2 * index) * word, as: UnsafeRawPointer.self)
      return unsafeBitCast(element, to: Any.Type.self)
    }
  }

  private static let word = MemoryLayout<UnsafeRawPointer>.size
}
