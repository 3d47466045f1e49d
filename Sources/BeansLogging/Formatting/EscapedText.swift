/// Values of entries as text that can neither end a line nor control a terminal.
enum EscapedText {
  /// Appends a value. Control characters and line breaks become escapes, as in Swift's literals: `\n`, `\0`, `\u{1B}`.
  /// A backslash stays as it is.
  static func append(_ value: String, to text: inout String) {
    guard mayNeedEscape(value) else { return text += value }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\0": text += #"\0"#
      case "\t": text += #"\t"#
      case "\n": text += #"\n"#
      case "\r": text += #"\r"#
      case _ where isEscaped(scalar): text += #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  /// Appends a value as a JSON string, with its quotes. Escapes the same characters.
  static func appendJSON(_ value: String, to text: inout String) {
    text += "\""
    defer { text += "\"" }
    guard mayNeedEscape(value) || value.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
    else { return text += value }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += #"\""#
      case "\\": text += #"\\"#
      case "\t": text += #"\t"#
      case "\n": text += #"\n"#
      case "\r": text += #"\r"#
      case _ where isEscaped(scalar):
        let digits = String(scalar.value, radix: 16)
        text += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  /// Whether the scalar is a control character or a line break. None of them is above U+FFFF.
  private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x2028...0x2029: true
    default: false
    }
  }

  /// Whether a byte of the value may belong to a scalar that is escaped.
  private static func mayNeedEscape(_ value: String) -> Bool {
    // The scalars from U+0080 on begin with C2, the two line breaks from U+2028 on with E2.
    value.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }
  }
}
