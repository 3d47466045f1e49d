import BeansErrors

/// A function that converts a value of one type to another, or throws `.conversionFailed`.
public typealias Conversion = (Any) throws -> Any

/// A search for the conversion between parts of two types, such as elements or raw values. Returns nil if there is none.
typealias PartSearch = (_ source: Any.Type, _ target: Any.Type) -> Conversion?

/// A source of conversions between types. Callable from any thread.
public protocol ConversionFactory: Sendable {
  /// Returns the conversion between the two types, or nil.
  func findConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Conversion?
  /// Returns the conversion between the two types.
  ///
  /// - Throws: `.noConversion` if there is none.
  func getConversion(_ sourceType: Any.Type, targetType: Any.Type) throws -> Conversion
}

extension ConversionFactory {
  /// Whether there is a conversion between the two types.
  package func hasConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Bool {
    findConversion(sourceType, targetType: targetType) != nil
  }

  /// Returns the conversion between the two types.
  ///
  /// - Throws: `.noConversion` if there is none.
  public func getConversion(_ sourceType: Any.Type, targetType: Any.Type) throws -> Conversion {
    if let conversion = findConversion(sourceType, targetType: targetType) { return conversion }
    throw EnvironmentError(.noConversion, "no conversion from \(sourceType) to \(targetType) is registered")
  }
}
