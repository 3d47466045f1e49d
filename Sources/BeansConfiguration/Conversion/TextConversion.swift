/// Conversions between text and types with a text form of their own: `Duration`, `ByteCount`, and every
/// `LosslessStringConvertible` type.
enum TextConversion {
  static func find(_ source: Any.Type, _ target: Any.Type) -> Conversion? {
    if source == String.self { return parser(of: target) }
    if target == ByteCount.self, let source = source as? any FixedWidthInteger.Type { return count(of: source) }
    guard target == String.self else { return nil }
    if source == Duration.self { return { ($0 as? Duration).map(DurationText.format) ?? "\($0)" } }
    return source is any LosslessStringConvertible.Type ? { "\($0)" } : nil
  }

  private static func parser(of target: Any.Type) -> Conversion? {
    if target == Duration.self { return { try DurationText.parse($0 as? String ?? "") } }
    if target == ByteCount.self { return { try ByteCount.parse($0 as? String ?? "") } }
    if target == Character.self { return toCharacter }
    guard let target = target as? any LosslessStringConvertible.Type else { return nil }
    return { value in
      guard let text = value as? String, let result = target.init(text) else { throw ConversionFailure() }
      return result
    }
  }

  /// Converts a number to a number of bytes.
  private static func count<Number: FixedWidthInteger>(of source: Number.Type) -> Conversion {
    { value in
      guard let number = value as? Number, number >= 0, let bytes = Int(exactly: number) else {
        throw ConversionFailure("it is out of range")
      }
      return ByteCount(bytes)
    }
  }

  /// Converts text to a character. `Character.init` traps if the text is not exactly one character.
  private static func toCharacter(_ value: Any) throws -> Any {
    guard let text = value as? String, let first = text.first, text.count == 1 else {
      throw ConversionFailure("expected one character")
    }
    return first
  }
}
