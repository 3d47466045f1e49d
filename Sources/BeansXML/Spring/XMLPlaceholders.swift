/// The separator between the key of a placeholder and its default, in the documents of one load.
public enum XMLPlaceholders: Sendable {
  /// The default follows `=`, and `:` follows a namespace: `${namespace:key=default}`.
  case standard
  /// The default follows `:`, as in Spring: `${key:default}`. Keys have no namespace.
  case spring

  /// Returns a text with its placeholders as the configuration reads them.
  ///
  /// Replaces the first `:` of each placeholder, also of those in keys and defaults. Linear in the text's length.
  func standardized(_ text: String) -> String {
    guard case .spring = self, text.utf8.contains(UInt8(ascii: ":")) else { return text }
    var result: [UInt8] = []
    /// Whether the separator of each open placeholder has been read, the outermost first.
    var open: [Bool] = []
    var dollars = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "{") where dollars == 1: open.append(false)
      case UInt8(ascii: "}"): _ = open.popLast()
      case UInt8(ascii: ":") where open.last == false:
        open[open.count - 1] = true
        result.append(UInt8(ascii: "="))
        dollars = 0
        continue
      default: break
      }
      dollars = byte == UInt8(ascii: "$") ? dollars + 1 : 0
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }
}
