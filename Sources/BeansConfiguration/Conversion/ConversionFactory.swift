import BeansErrors

/// Turns a value of one type into a value of another, or throws `.conversionFailed`.
public typealias Conversion = (Any) throws -> Any

/// Knows how values of one type become values of another. From any thread.
public protocol ConversionFactory: Sendable {
  /// Whether there is a conversion between the two types.
  func hasConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Bool
  /// The conversion between the two types, or nil.
  func findConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Conversion?
  /// The conversion between the two types.
  ///
  /// - Throws: `.noConversion` where there is none.
  func getConversion(_ sourceType: Any.Type, targetType: Any.Type) throws -> Conversion
}

extension ConversionFactory {
  /// Whether there is a conversion between the two types.
  public func hasConversion(_ sourceType: Any.Type, targetType: Any.Type) -> Bool {
    findConversion(sourceType, targetType: targetType) != nil
  }

  /// The conversion between the two types.
  ///
  /// - Throws: `.noConversion` where there is none.
  public func getConversion(_ sourceType: Any.Type, targetType: Any.Type) throws -> Conversion {
    if let conversion = findConversion(sourceType, targetType: targetType) { return conversion }
    throw EnvironmentError(.noConversion, "no conversion from \(sourceType) to \(targetType) is registered")
  }
}
