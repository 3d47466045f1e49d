import Beans

extension JSONParser {
  /// Parses a number, and keeps its spelling: a whole number without point and exponent is an `Int`, above its range a `UInt64`, and any other
  /// number a `Double`.
  mutating func number() throws(EnvironmentError) -> any Sendable {
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let isZero = next == UInt8(ascii: "0")
    if skipDigits() == 0 { throw fault("there is no digit after the sign '-'") }
    if isZero, bytes[index - 1] != UInt8(ascii: "0") || index - start > (bytes[start] == UInt8(ascii: "-") ? 2 : 1) {
      throw fault("a number with leading zeros: leave them out, or write a text in double quotes", at: start)
    }
    var isWhole = true
    if next == UInt8(ascii: ".") {
      isWhole = false
      index += 1
      if skipDigits() == 0 { throw fault("there is no digit after the point: write 0 after it") }
    }
    if let exponent = next, exponent | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      index += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
      if skipDigits() == 0 { throw fault("there is no digit in the exponent") }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole {
      if let number = Int(text) { return SpelledNumber(number, text) }
      if let number = UInt64(text) { return SpelledNumber(number, text) }
    }
    guard let number = Double(text), number.isFinite else {
      throw fault("the number is out of range: write a text in double quotes", at: start)
    }
    return SpelledNumber(number, text)
  }

  /// Skips digits, and returns their number.
  private mutating func skipDigits() -> Int {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    return index - start
  }
}
