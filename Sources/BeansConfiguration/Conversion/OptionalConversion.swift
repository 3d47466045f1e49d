/// Optionals of any type.
protocol OptionalConversion {
  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion?
  static func conversion(to target: Any.Type, in factory: StandardConversionFactory, depth: Int) -> Conversion?
  /// The value nil.
  static var absent: Any { get }
}

extension Optional: OptionalConversion {
  static var absent: Any { Self.none as Any }

  static func conversion(
    from source: Any.Type, in factory: StandardConversionFactory, depth: Int
  ) -> Conversion? {
    guard let inner = factory.search(source, Wrapped.self, depth: depth) else { return nil }
    return { value in
      guard let wrapped = try inner(value) as? Wrapped else { throw ConversionFailure() }
      return Self.some(wrapped) as Any
    }
  }

  static func conversion(to target: Any.Type, in factory: StandardConversionFactory, depth: Int) -> Conversion? {
    guard let inner = factory.search(Wrapped.self, target, depth: depth) else { return nil }
    return { value in
      if case .some(let wrapped)? = value as? Self { return try inner(wrapped) }
      guard let target = target as? any OptionalConversion.Type else { throw ConversionFailure("there is no value") }
      return target.absent
    }
  }
}
