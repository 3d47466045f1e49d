package import BeansErrors

/// Text with placeholders, taken apart: `${key}`, `${namespace:key}`, `${key=default}`.
///
/// Keys and defaults may hold placeholders themselves. `$${` stands for `${`; any other `$` for itself. Braces within a
/// placeholder are counted, so a default may be `{"a": 1}`. Spaces around a key do not matter.
package struct PlaceholderText: Sendable {
  indirect enum Segment: Sendable {
    case text(String)
    case placeholder(key: [Segment], fallback: [Segment]?)
  }

  typealias Find = (QualifiedKey) throws(EnvironmentError) -> String?

  let segments: [Segment]

  private init(segments: [Segment]) { self.segments = segments }

  /// Throws `.invalidDeclaration` for a placeholder that is not closed, has no key, or stands too deep in others.
  package init(_ text: String) throws(EnvironmentError) {
    guard text.utf8.contains(UInt8(ascii: "$")) else {
      segments = [.text(text)]
      return
    }
    var parser = PlaceholderParser(text)
    segments = try parser.parse()
  }

  /// The key where the text is one placeholder and nothing else, so that its value need not pass through text.
  var soleKey: PlaceholderText? {
    guard segments.count == 1, case .placeholder(let key, _)? = segments.first else { return nil }
    return PlaceholderText(segments: key)
  }

  /// The text with all placeholders replaced. Values are taken as they are: placeholders in them are not looked for.
  func resolve(
    find: Find, missing: (QualifiedKey) -> EnvironmentError
  ) throws(EnvironmentError) -> String {
    try Self.resolve(segments, find, missing)
  }

  private static func resolve(
    _ segments: [Segment], _ find: Find, _ missing: (QualifiedKey) -> EnvironmentError
  ) throws(EnvironmentError) -> String {
    var result = ""
    for segment in segments {
      switch segment {
      case .text(let text): result += text
      case .placeholder(let key, let fallback):
        let name = QualifiedKey(TextConversion.trim(try resolve(key, find, missing)))
        if let value = try find(name) {
          result += value
        } else if let fallback {
          result += try resolve(fallback, find, missing)
        } else {
          throw missing(name)
        }
      }
    }
    return result
  }
}
