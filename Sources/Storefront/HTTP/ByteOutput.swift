/// Writing text into bytes without making a `String` of it.
extension [UInt8] {
  /// Appends the literal's bytes in one copy.
  mutating func append(literal text: StaticString) {
    text.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Appends `number` in decimal.
  mutating func appendDecimal(_ number: some FixedWidthInteger) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    let start = count
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }
}
