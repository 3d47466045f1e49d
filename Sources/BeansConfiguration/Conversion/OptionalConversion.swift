/// Optionals of any type.
protocol OptionalConversion {
  /// Returns the conversion from another type, made of the one to the wrapped type.
  static func conversion(from source: Any.Type, wrapped search: PartSearch) -> Conversion?
  /// Returns the conversion to another type, made of the one from the wrapped type.
  static func conversion(to target: Any.Type, wrapped search: PartSearch) -> Conversion?
  /// The value nil.
  static var absent: Any { get }
  /// The type of the values.
  static var wrappedType: Any.Type { get }
  /// Returns the optional of a value; nil for a value of another type.
  static func some(_ value: Any) -> Any?
}

extension Optional: OptionalConversion {
  static var absent: Any { Self.none as Any }
  static var wrappedType: Any.Type { Wrapped.self }
  static func some(_ value: Any) -> Any? { (value as? Wrapped).map { Self.some($0) as Any } }

  static func conversion(from source: Any.Type, wrapped search: PartSearch) -> Conversion? {
    guard let inner = search(source, Wrapped.self) else { return nil }
    return { value in
      guard let wrapped = try inner(value) as? Wrapped else { throw ConversionFailure() }
      return Self.some(wrapped) as Any
    }
  }

  static func conversion(to target: Any.Type, wrapped search: PartSearch) -> Conversion? {
    guard let inner = search(Wrapped.self, target) else { return nil }
    return { value in
      if case .some(let wrapped)? = value as? Self { return try inner(wrapped) }
      guard let target = target as? any OptionalConversion.Type else { throw ConversionFailure("there is no value") }
      return target.absent
    }
  }
}
