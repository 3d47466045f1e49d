/// Between text and types that have a text of their own: `Duration`, and whatever is `LosslessStringConvertible`.
enum TextConversion {
  static func find(_ source: Any.Type, _ target: Any.Type) -> Conversion? {
    if source == String.self { return parser(of: target) }
    guard target == String.self else { return nil }
    if source == Duration.self { return { ($0 as? Duration).map(DurationText.format) ?? "\($0)" } }
    return source is any LosslessStringConvertible.Type ? { "\($0)" } : nil
  }

  private static func parser(of target: Any.Type) -> Conversion? {
    if target == Duration.self { return { try DurationText.parse($0 as? String ?? "") } }
    if target == Character.self { return toCharacter }
    guard let target = target as? any LosslessStringConvertible.Type else { return nil }
    return { value in
      guard let text = value as? String, let result = target.init(text) else { throw ConversionFailure() }
      return result
    }
  }

  /// Its own `init` traps where the text is not one character.
  private static func toCharacter(_ value: Any) throws -> Any {
    guard let text = value as? String, let first = text.first, text.count == 1 else {
      throw ConversionFailure("expected one character")
    }
    return first
  }

  /// Without the white space around it.
  static func trim(_ text: some StringProtocol) -> String {
    let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
    return String(text[..<end].drop { $0.isWhitespace })
  }
}
