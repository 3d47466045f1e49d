import Beans

/// `StandardConversionFactory.convert`: every kind of value to every kind of type.
struct ConversionTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [
    ("converted", 0.1), ("conversionFailed", 0.1), ("noConversion", 0.01),
  ]

  private let factory = StandardConversionFactory()

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    // The kind of the value, the type, and the bytes of the value.
    var input: [UInt8] = []
    for _ in 0..<4 { input.append(UInt8(truncatingIfNeeded: random.next())) }
    let bits = Self.bits(&random)
    for index in 0..<8 as Range<UInt64> { input.append(UInt8(truncatingIfNeeded: bits >> (56 - index * 8))) }
    let text = RandomText.make(&random).utf8.prefix(255)
    input.append(UInt8(text.count))
    input += text
    return input
  }

  /// Numbers of every size, of both signs, and next to the powers of two, as an integer or a `Double` has them.
  private static func bits(_ random: inout RandomNumbers) -> UInt64 {
    let number = random.next()
    let short = number >> UInt64(random.below(64))
    switch random.below(5) {
    case 0: return number
    case 1: return short
    case 2: return ~short
    case 3: return (number % 4096) << 52
    default: return ((number % 4096) << 52) &- 1
    }
  }

  func run(_ input: [UInt8]) throws -> String {
    var bytes = ByteReader(input)
    let (kind, type) = (
      bytes.below(ConversionValues.kinds), ConversionValues.types[bytes.below(ConversionValues.types.count)]
    )
    let value = ConversionValues.make(kind, &bytes)
    let exists = factory.findConversion(Swift.type(of: value), targetType: type) != nil
    let result: Any
    do {
      result = try factory.convert(value, targetType: type)
    } catch {
      try check(error.code == (exists ? .conversionFailed : .noConversion), value, type, "fails: \(error)")
      return "\(error.code)"
    }
    try check(exists && ConversionValues.isInstance(result, of: type), value, type, "gives \(result)")
    try checkBack(value, result, type)
    return "converted"
  }

  /// Checks that an integer is the same number again, and that text can be read again, where nothing is cut.
  private func checkBack(_ value: Any, _ result: Any, _ type: Any.Type) throws {
    if type == String.self, let integer = value as? any FixedWidthInteger {
      let again = try factory.convert(result, targetType: Swift.type(of: integer))
      try check(AnyHashable(integer) == again as? AnyHashable, value, type, "is \(again) again")
    }
    if let integer = result as? any FixedWidthInteger, let given = value as? any FixedWidthInteger {
      try check("\(integer)" == "\(given)", value, type, "gives \(integer)")
    }
    if let integer = result as? any FixedWidthInteger, let given = value as? Double {
      try check(Double(integer) == given, value, type, "gives \(integer)")
    }
    if let duration = value as? Duration, let text = result as? String {
      let again = try factory.convert(text, targetType: Duration.self) as? Duration
      let rest = (again ?? .zero) - duration
      try check(rest < .nanoseconds(1) && rest > .nanoseconds(-1), value, type, "is \(String(describing: again)) again")
    }
  }

  private func check(_ holds: Bool, _ value: Any, _ type: Any.Type, _ what: String) throws {
    if !holds { throw Broken(description: "\(value) (\(Swift.type(of: value))) to \(type) \(what)") }
  }
}
