import Beans

/// The core schema of YAML 1.2, which gives plain scalars their types.
///
/// `no`, `on` and `12:30` are texts, unlike in YAML 1.1.
enum YAMLSchema {
  private static let prefix = "tag:yaml.org,2002:"

  /// Returns the value of a scalar.
  ///
  /// - Parameters:
  ///   - text: the text without quotes.
  ///   - isPlain: true for a text without quotes, which may be another value.
  ///   - tag: the tag before the text, if any.
  static func content(_ text: String, isPlain: Bool, tag: String?) -> ConfigurationTree.Content {
    guard let tag else { return isPlain ? resolve(text) : .scalar(text) }
    if let reason = unknownTag(tag, known: ["str", "int", "float", "bool", "null"]) { return .invalid(reason) }
    let plain = resolve(text)
    switch (tag, plain) {
    case ("!", _), ("\(prefix)str", _): return .scalar(text)
    case ("\(prefix)null", .null): return plain
    case ("\(prefix)bool", .scalar(let value)) where value is Bool: return plain
    case ("\(prefix)int", .scalar(let value)) where value is SpelledNumber<Int> || value is SpelledNumber<UInt64>:
      return plain
    case ("\(prefix)float", .scalar(let value)):
      if value is SpelledNumber<Double> { return plain }
      if let value = value as? SpelledNumber<Int> { return .scalar(SpelledNumber(Double(value.number), text)) }
    default: break
    }
    return .invalid("is no value of its tag '!!\(tag.dropFirst(prefix.count))': remove the tag")
  }

  /// Returns the fault of a tag that is not one of the core schema; nil for no tag, and for a known one.
  static func unknownTag(_ tag: String?, known: [String]) -> String? {
    guard let tag, tag != "!", !known.contains(where: { "\(prefix)\($0)" == tag }) else { return nil }
    let shown = tag.hasPrefix(prefix) ? "!!\(tag.dropFirst(prefix.count))" : tag
    return "has the tag '\(shown)', which has no meaning here: remove the tag"
  }

  /// Returns the value of a plain scalar.
  private static func resolve(_ text: String) -> ConfigurationTree.Content {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .scalar(true)
    case "false", "False", "FALSE": return .scalar(false)
    default: break
    }
    guard let first = text.utf8.first, first < UInt8(ascii: ":") else { return .scalar(text) }
    if text.hasPrefix("0x") { return whole(text, radix: 16) }
    if text.hasPrefix("0o") { return whole(text, radix: 8) }
    return number(text)
  }

  private static func whole(_ text: String, radix: Int) -> ConfigurationTree.Content {
    let digits = text.dropFirst(2)
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { UInt8($0).isDigit(radix: radix) }
    guard isNumber else { return .scalar(text) }
    if let number = Int(digits, radix: radix) { return .scalar(SpelledNumber(number, text)) }
    if let number = UInt64(digits, radix: radix) { return .scalar(SpelledNumber(number, text)) }
    return .invalid("is a number out of range: write a text in quotes")
  }

  /// Returns the value of a decimal number, or of a text that begins like one.
  private static func number(_ text: String) -> ConfigurationTree.Content {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let name = String(Substring(rest))
    if [".inf", ".Inf", ".INF"].contains(name) || [".nan", ".NaN", ".NAN"].contains(text) {
      return .invalid("is no finite number: write a text in quotes, or leave the key out")
    }
    let digits = take(&rest)
    if digits > 0, rest.isEmpty {
      if let number = Int(text) { return .scalar(SpelledNumber(number, text)) }
      if let number = UInt64(text) { return .scalar(SpelledNumber(number, text)) }
      return finite(text)
    }
    var decimals = 0
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      decimals = take(&rest)
    }
    guard digits + decimals > 0 else { return .scalar(text) }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
      guard take(&rest) > 0 else { return .scalar(text) }
    }
    return rest.isEmpty ? finite(text) : .scalar(text)
  }

  private static func finite(_ text: String) -> ConfigurationTree.Content {
    guard let number = Double(text), number.isFinite else {
      return .invalid("is a number out of range: write a text in quotes")
    }
    return .scalar(SpelledNumber(number, text))
  }

  /// Removes the digits at the beginning, and returns their number.
  private static func take(_ text: inout Substring.UTF8View) -> Int {
    let rest = text.drop { $0.isDigit(radix: 10) }
    defer { text = rest }
    return text.count - rest.count
  }
}

extension UInt8 {
  fileprivate func isDigit(radix: Int) -> Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self - UInt8(ascii: "0")) < radix
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): radix == 16
    default: false
    }
  }
}
