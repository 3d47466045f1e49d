/// A type that `type`, `value-type` and `key-type` name: one of Java's, or its equivalent in Swift.
struct JavaType {
  /// Converts a text; nil for a text that is no value of the type.
  let convert: @Sendable (String) -> (any Sendable)?

  static func named(_ name: String) -> JavaType? {
    let own = name.hasPrefix("java.lang.") ? name.dropFirst("java.lang.".count) : Substring(name)
    return types[String(own)]
  }

  /// The advice for a class that is not known.
  static let advice =
    "omit it, because the property determines the type, or use one of int, long, double, boolean and java.lang.String"

  private static let types: [String: JavaType] = {
    let text = JavaType { $0 }
    let (int, double) = (JavaType { integer($0, Int32.self).map { Int($0) } }, JavaType { number($0, Double.self) })
    let bool = JavaType { boolean($0) }
    let character = JavaType { $0.utf16.count == 1 ? $0 : nil }
    let long = JavaType { integer($0, Int.self) }
    return [
      "String": text, "CharSequence": text, "Object": text, "java.math.BigDecimal": text, "java.math.BigInteger": text,
      "char": character, "Character": character,
      "byte": JavaType { integer($0, Int8.self) }, "Byte": JavaType { integer($0, Int8.self) },
      "short": JavaType { integer($0, Int16.self) }, "Short": JavaType { integer($0, Int16.self) },
      "int": int, "Integer": int, "long": long, "Long": long, "Int": long,
      "float": JavaType { number($0, Float.self) }, "Float": JavaType { number($0, Float.self) },
      "double": double, "Double": double, "boolean": bool, "Boolean": bool, "Bool": bool,
    ]
  }()

  private static func trimmed(_ text: String) -> Substring {
    var text = text[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  private static func integer<Integer: FixedWidthInteger>(_ text: String, _ type: Integer.Type) -> Integer? {
    Integer(trimmed(text), radix: 10)
  }

  private static func number<Number: LosslessStringConvertible>(_ text: String, _ type: Number.Type) -> Number? {
    Number(String(trimmed(text)))
  }

  private static func boolean(_ text: String) -> Bool? {
    switch trimmed(text).lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }
}
