/// A writer of HTML, directly as bytes. Only literals of this program are written unescaped; all other text is escaped.
struct HTMLWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Appends a literal as markup.
  mutating func markup(_ literal: StaticString) { bytes.append(literal: literal) }

  /// Appends the text of an element or of a quoted attribute, escaped.
  mutating func text(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes.append(literal: "&amp;")
      case UInt8(ascii: "<"): bytes.append(literal: "&lt;")
      case UInt8(ascii: ">"): bytes.append(literal: "&gt;")
      case UInt8(ascii: "\""): bytes.append(literal: "&quot;")
      case UInt8(ascii: "'"): bytes.append(literal: "&#39;")
      default: bytes.append(byte)
      }
    }
  }

  mutating func number(_ number: some FixedWidthInteger) { bytes.appendDecimal(number) }

  mutating func money(_ money: Money) {
    text(money.description)
    markup("&nbsp;€")
  }

  /// Appends the output of another writer.
  mutating func append(_ other: HTMLWriter) { bytes.append(contentsOf: other.bytes) }
}
