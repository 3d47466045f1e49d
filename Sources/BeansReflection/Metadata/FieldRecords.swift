import CBeansRuntime

/// The compiler's records of a class's own stored properties, or of the cases of an enum. Reading them does not instantiate the types of the
/// properties. `RuntimeLayout` has verified this layout.
@safe struct FieldRecords {
  /// The kind of reference in a stored property.
  enum Ownership {
    case strong, weak, unowned, unmanaged
  }

  private let first: UnsafeRawPointer
  private let size: Int
  private let count: Int

  /// Reads the records of a class; nil if it has none.
  init?(of type: AnyClass) { unsafe self.init(metadata: unsafeBitCast(type, to: UnsafeRawPointer.self)) }

  /// Reads the records of an enum; nil if it has none, or for another type.
  init?(ofEnum type: Any.Type) {
    guard MetadataKind.of(type) == MetadataKind.enum else { return nil }
    unsafe self.init(metadata: unsafeBitCast(type, to: UnsafeRawPointer.self))
  }

  private init?(metadata: UnsafeRawPointer) {
    // Types have flags, parent, name, accessor, fields; fields have type, superclass, kind, size of a record, number.
    guard let descriptor = unsafe swift_getTypeContextDescriptor(metadata),
      let fields = unsafe descriptor.target(at: 16)
    else { return nil }
    size = unsafe Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    count = unsafe Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    unsafe first = unsafe fields + 16
  }

  /// The names, in order of declaration.
  var names: [String] {
    (0..<count).compactMap { index in
      // A record has flags, type, name.
      unsafe (first + index * size).target(at: 8).map { unsafe String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }
  }

  var hasUnderscored: Bool {
    let underscore = UInt8(ascii: "_")
    return (0..<count).contains { index in
      // A record has flags, type, name.
      unsafe (first + index * size).target(at: 8)?.load(as: UInt8.self) == underscore
    }
  }

  /// Returns the ownership of a property that is not strong. It is encoded at the end of the type's mangled name.
  func ownership(at index: Int) -> Ownership {
    guard index >= 0, index < count, let name = unsafe (first + index * size).target(at: 4) else { return .unmanaged }
    let end = unsafe Self.endOfName(name)
    guard unsafe end - name >= 2, unsafe (end - 2).load(as: UInt8.self) == UInt8(ascii: "X") else { return .unmanaged }
    return switch unsafe (end - 1).load(as: UInt8.self) {
    case UInt8(ascii: "w"): .weak
    case UInt8(ascii: "o"): .unowned
    default: .unmanaged
    }
  }

  /// Returns the end of a mangled name, which contains binary references besides text.
  private static func endOfName(_ name: UnsafeRawPointer) -> UnsafeRawPointer {
    var end = unsafe name
    while true {
      switch unsafe end.load(as: UInt8.self) {
      case 0: return unsafe end
      case 1...0x17: unsafe end += 1 + MemoryLayout<Int32>.size
      case 0x18...0x1F: unsafe end += 1 + MemoryLayout<UnsafeRawPointer>.size
      default: unsafe end += 1
      }
    }
  }
}
