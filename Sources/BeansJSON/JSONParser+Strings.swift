import Beans

extension JSONParser {
  /// Parses a text in double quotes.
  mutating func string() throws(EnvironmentError) -> String {
    let quote = index
    index += 1
    var text: [UInt8] = []
    var start = index
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        text += bytes[start..<index]
        index += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        text += bytes[start..<index]
        try appendEscape(to: &text)
        start = index
      case 0x00..<0x20: throw faultOfControl(byte, quote)
      default: index += 1
      }
    }
    throw fault("the text is not closed: write '\"' at its end", at: quote)
  }

  private mutating func appendEscape(to text: inout [UInt8]) throws(EnvironmentError) {
    let start = index
    index += 1
    guard let letter = next else { throw fault("the file ends within a text") }
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text += Array(String(try scalar(from: start)).utf8)
    default:
      throw fault("a backslash before a character without a meaning: write '\\\\' for a backslash", at: start)
    }
  }

  /// Parses the digits of one `\u` escape, or of two for a character beyond U+FFFF.
  ///
  /// - Parameter start: the index of the backslash.
  private mutating func scalar(from start: Int) throws(EnvironmentError) -> Unicode.Scalar {
    let first = try unit(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let isPair = first < 0xDC00 && bytes[index...].starts(with: "\\u".utf8)
    if isPair {
      index += 2
      let second = try unit(from: start)
      if second & 0xFC00 == 0xDC00,
        let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
      {
        return scalar
      }
    }
    throw fault("half of a surrogate pair: write both halves, or the character itself", at: start)
  }

  private mutating func unit(from start: Int) throws(EnvironmentError) -> UInt32 {
    let digits = bytes[index..<min(index + 4, bytes.count)]
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault("'\\u' without four hexadecimal digits after it", at: start) }
    index += 4
    return unit
  }

  private func faultOfControl(_ byte: UInt8, _ quote: Int) -> EnvironmentError {
    if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
      return fault("the text is not closed: write '\"' at its end, and '\\n' for a line break", at: quote)
    }
    let digits = String(byte, radix: 16)
    let escape = byte == UInt8(ascii: "\t") ? "\\t" : "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    return fault("a control character in a text: write '\(escape)'")
  }
}
