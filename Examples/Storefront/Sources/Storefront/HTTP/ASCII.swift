/// The byte-level rules of HTTP text.
enum ASCII {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }

  static func equalIgnoringCase(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
    let text = text.utf8
    guard bytes.count == text.count else { return false }
    var index = bytes.startIndex
    for byte in text {
      if lowercased(bytes[index]) != lowercased(byte) { return false }
      index += 1
    }
    return true
  }

  /// Compares bytes with a literal in lower case, ignoring case.
  static func equalIgnoringCase(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in
      for index in text.indices where unsafe lowercased(bytes[index]) != text[index] { return false }
      return true
    }
  }

  /// Whether a byte may occur in a `token`: method, field name, cookie name.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default:
      false
    }
  }

  /// Whether a byte is white space inside a line.
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

  /// Whether a field value may contain a byte: no control character but HTAB. Bytes beyond ASCII are opaque.
  static func isFieldText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == tab }

  /// Returns the value of a hexadecimal digit; nil for any other byte.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
