/// Methods that write text as bytes without a `String`.
extension [UInt8] {
  /// Appends the literal's bytes in one copy.
  mutating func append(literal text: StaticString) {
    text.withUTF8Buffer { unsafe append(contentsOf: $0) }
  }

  /// Appends `number` in decimal.
  mutating func appendDecimal(_ number: some FixedWidthInteger) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = UInt64(number.magnitude)
    // From the last digit to the first; 64 bits have 20 of them at most.
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      repeat {
        start -= 1
        unsafe digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      unsafe append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }
}
