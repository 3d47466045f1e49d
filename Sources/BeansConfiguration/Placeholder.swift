import BeansErrors

/// A parsed text with placeholders: `${key}`, `${namespace:key}`, `${key=default}`.
///
/// Keys and defaults may contain placeholders. `$${` denotes `${`; any other `$` denotes itself. Braces within a
/// placeholder are counted, so a default may be `{"a": 1}`. Spaces around a key do not matter.
package struct PlaceholderText: Sendable {
  indirect enum Segment: Sendable {
    case text(String)
    case placeholder(key: [Segment], fallback: [Segment]?)
  }

  typealias Find = (QualifiedKey) throws(EnvironmentError) -> String?

  let segments: [Segment]

  init(segments: [Segment]) { self.segments = segments }

  /// The key if the text is exactly one placeholder, so that its value needs no conversion to text; otherwise nil.
  var soleKey: PlaceholderText? {
    guard segments.count == 1, case .placeholder(let key, _)? = segments.first else { return nil }
    return PlaceholderText(segments: key)
  }

  /// Returns the text with all placeholders replaced.
  ///
  /// - Parameters:
  ///   - find: returns the value of a key with its placeholders replaced; nil if there is none.
  ///   - missing: returns the fault of a key without a value and a default.
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
        let name = QualifiedKey(try resolve(key, find, missing).trimmed)
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
