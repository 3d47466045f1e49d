/// The kinds of types, as numbered by the runtime.
enum MetadataKind {
  static let `class`: UInt = 0
  static let `struct`: UInt = 0x200
  static let `enum`: UInt = 0x201
  /// A type of the compiler, such as `Builtin.RawPointer`.
  static let opaque: UInt = 0x300
  static let tuple: UInt = 0x301
  static let function: UInt = 0x302
  /// A protocol type or composition, `Any` and `AnyObject` included.
  static let existential: UInt = 0x303
  static let metatype: UInt = 0x304
  /// A constrained protocol type, such as `any Collection<Int>`.
  static let constrainedExistential: UInt = 0x307

  /// Returns the kind of a type.
  static func of(_ type: Any.Type) -> UInt { getMetadataKind(type) }
}

/// Returns the kind of a type. Exported by the Swift runtime for the standard library.
@_silgen_name("swift_getMetadataKind")
private func getMetadataKind(_ type: Any.Type) -> UInt
