/// Conversions between text and `URL` and `UUID` of Foundation, which this module does not link: through their
/// `Decodable` conformances.
enum FoundationConversion {
  private static let names: Set = [
    "Foundation.URL", "FoundationEssentials.URL", "Foundation.UUID", "FoundationEssentials.UUID",
  ]

  /// Whether the type is one of these.
  static func isKnown(_ type: Any.Type) -> Bool {
    type is any Decodable.Type && names.contains(String(reflecting: type))
  }

  static func find(_ source: Any.Type, _ target: Any.Type) -> Conversion? {
    if source == String.self, isKnown(target), let target = target as? any Decodable.Type {
      return { value in
        guard let text = value as? String, !text.isEmpty else { throw ConversionFailure("the text is empty") }
        do { return try target.init(from: NodeDecoder(node: TextNode(text: text.trimmed))) } catch {
          throw ConversionFailure()
        }
      }
    }
    // Both print as the text that they are parsed from.
    return target == String.self && isKnown(source) ? { "\($0)" } : nil
  }

  /// The text of a value, and of the key `relative`, under which `URL` expects it.
  private struct TextNode: DecodedNode {
    let text: String?
    var names: [String] { ["relative"] }
    var elements: [any DecodedNode] { [] }
    var exists: Bool { text != nil }
    func child(_ name: String) -> any DecodedNode { TextNode(text: name == "relative" ? text : nil) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if let value = text as? Value { return value }
      throw ConversionFailure()
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? { text as? Value }
  }
}
