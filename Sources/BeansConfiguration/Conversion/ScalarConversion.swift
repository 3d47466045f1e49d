/// Conversions between text, `Bool`, and numbers of every width. Never traps: a value out of range is refused.
enum ScalarConversion {
  static func find(_ source: Any.Type, _ target: Any.Type) -> Conversion? {
    guard source == String.self || isScalar(source) else { return nil }
    if target == String.self { return { "\($0)" } }
    if target == Bool.self { return toBool }
    // A Boolean is no number: `--port` without a value must not become port 1.
    if source == Bool.self { return nil }
    if let target = target as? any FixedWidthInteger.Type { return integerConversion(to: target) }
    if let target = target as? any (BinaryFloatingPoint & LosslessStringConvertible).Type {
      return floatingConversion(to: target)
    }
    return nil
  }

  private static func isScalar(_ type: Any.Type) -> Bool {
    type == Bool.self || type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
  }

  private static func toBool(_ value: Any) throws -> Any {
    if let text = value as? String {
      switch text.trimmed.lowercased() {
      case "true", "yes", "on", "1": return true
      case "false", "no", "off", "0": return false
      default: throw ConversionFailure("expected true, yes, on, 1 or false, no, off, 0")
      }
    }
    var number: Int?
    if let value = value as? any BinaryInteger { number = Int(exactly: value) }
    if let value = value as? any BinaryFloatingPoint { number = Int(exactly: value) }
    guard number == 0 || number == 1 else { throw ConversionFailure("only 0 and 1 are Booleans") }
    return number == 1
  }

  private static func integerConversion<Target: FixedWidthInteger>(to target: Target.Type) -> Conversion {
    func exactly(_ number: some BinaryInteger) -> Target? { Target(exactly: number) }
    func exactly(_ number: some BinaryFloatingPoint) -> Target? { Target(exactly: number) }
    return { value in
      let result: Target?
      if let text = value as? String {
        result = Target(text.trimmed, radix: 10)
      } else if let number = value as? any BinaryInteger {
        result = exactly(number)
      } else if let number = value as? any BinaryFloatingPoint {
        result = exactly(number)
      } else {
        result = nil
      }
      guard let result else {
        throw ConversionFailure("expected an integer from \(Target.min) to \(Target.max)")
      }
      return result
    }
  }

  private static func floatingConversion<Target: BinaryFloatingPoint & LosslessStringConvertible>(
    to target: Target.Type
  ) -> Conversion {
    func nearest(_ number: some BinaryInteger) -> Target { Target(number) }
    func nearest(_ number: some BinaryFloatingPoint) -> Target? {
      let result = Target(number)
      // Infinity stays infinity; a finite number must not become infinite.
      return number.isFinite && !result.isFinite ? nil : result
    }
    return { value in
      if let text = value as? String { return try parse(text) as Target }
      if let number = value as? any BinaryInteger {
        let result = nearest(number)
        if result.isFinite { return result }
      } else if let number = value as? any BinaryFloatingPoint, let result = nearest(number) {
        return result
      }
      throw ConversionFailure("it is out of range")
    }
  }

  private static func parse<Target: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String
  ) throws -> Target {
    let text = text.trimmed
    guard let number = Target(text) else { throw ConversionFailure("expected a number") }
    // A number that is too large parses as infinity, which is accepted only if it is spelled out.
    if number.isInfinite, !text.lowercased().contains("inf") { throw ConversionFailure("it is out of range") }
    return number
  }
}
