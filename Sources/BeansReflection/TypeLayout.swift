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
      return ValueMetadata.instance(type) is AnyClass
        ? nil : "it holds the metatype of a value, which has no form in memory"
    case MetadataKind.tuple: return ValueMetadata.elements(type).lazy.compactMap(obstacle).first
    default:
      if unsafe ValueMetadata.isNoncopyable(unsafeBitCast(type, to: UnsafeRawPointer.self)) {
        return "\(type) cannot be copied"
      }
      return (type as? any OptionalType.Type).flatMap { obstacle($0.wrappedType) }
    }
  }
}
