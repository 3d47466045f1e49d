package import BeansErrors

/// A parser for text with placeholders, in one pass.
struct PlaceholderParser {
  private enum Place { case text, key, fallback }

  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0
  private let isSecret: Bool

  /// The maximum nesting of placeholders.
  static let deepest = 64

  /// Creates a parser.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - isSecret: whether faults leave the text out.
  init(_ text: String, isSecret: Bool) {
    self.text = text
    self.isSecret = isSecret
    // All special characters are ASCII, which is never a part of another character in UTF-8.
    bytes = Array(text.utf8)
  }

  mutating func parse() throws(EnvironmentError) -> [PlaceholderText.Segment] { try segments(in: .text) }

  private mutating func segments(in place: Place) throws(EnvironmentError) -> [PlaceholderText.Segment] {
    var result: [PlaceholderText.Segment] = []
    var literal: [UInt8] = []
    var braces = 0
    func flush() {
      if !literal.isEmpty { result.append(.text(String(decoding: literal, as: UTF8.self))) }
      literal = []
    }
    while position < bytes.count {
      if take("$${") {
        literal += Array("${".utf8)
        braces += 1
        continue
      }
      if take("${") {
        flush()
        result.append(try placeholder())
        continue
      }
      let byte = bytes[position]
      if place != .text {
        if byte == UInt8(ascii: "=") && place == .key && braces == 0 { break }
        if byte == UInt8(ascii: "}") {
          if braces == 0 { break }
          braces -= 1
        } else if byte == UInt8(ascii: "{") {
          braces += 1
        }
      }
      literal.append(byte)
      position += 1
    }
    flush()
    return result
  }

  /// Parses the rest of a placeholder, after `${`.
  private mutating func placeholder() throws(EnvironmentError) -> PlaceholderText.Segment {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("has placeholders that are nested too deeply") }
    let key = try segments(in: .key)
    var fallback: [PlaceholderText.Segment]?
    if take("=") { fallback = try segments(in: .fallback) }
    guard take("}") else { throw fault("has a placeholder that is not closed") }
    if key.allSatisfy({ if case .text(let text) = $0 { text.trimmed.isEmpty } else { false } }) {
      throw fault("has a placeholder without a key")
    }
    return .placeholder(key: key, fallback: fallback)
  }

  private mutating func take(_ token: StaticString) -> Bool {
    let count = token.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for offset in 0..<count where unsafe bytes[position + offset] != token.utf8Start[offset] { return false }
    position += count
    return true
  }

  private func fault(_ what: String) -> EnvironmentError {
    EnvironmentError(
      cause: .malformedPlaceholder, "the text \(isSecret ? SecretKeys.mask : ConversionFailure.quote(text)) \(what)")
  }
}

extension PlaceholderText {
  /// Parses the text. Throws `.invalidDeclaration` for a placeholder that is not closed, has no key, or is nested too
  /// deeply.
  package init(_ text: String) throws(EnvironmentError) { try self.init(text, isSecret: false) }

  /// Parses the text; faults leave a secret out.
  init(_ text: String, isSecret: Bool) throws(EnvironmentError) {
    guard text.utf8.contains(UInt8(ascii: "$")) else {
      self.init(segments: [.text(text)])
      return
    }
    var parser = PlaceholderParser(text, isSecret: isSecret)
    self.init(segments: try parser.parse())
  }
}
