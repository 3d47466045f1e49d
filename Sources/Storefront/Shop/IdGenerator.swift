/// Makes ids that cannot be guessed: 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal digits.
/// Two system calls each; safe from any thread.
final class IdGenerator: Sendable {
  init() {}

  func next() -> String {
    var random = SystemRandomNumberGenerator()
    let high = random.next()
    let low = random.next()
    return unsafe String(unsafeUninitializedCapacity: 32) { digits in
      for index in 0..<16 {
        unsafe digits.initializeElement(at: index, to: Self.digit(high >> (60 - 4 * UInt64(index))))
        unsafe digits.initializeElement(at: index + 16, to: Self.digit(low >> (60 - 4 * UInt64(index))))
      }
      return 32
    }
  }

  /// Whether `text` could be one of these ids; saves a look-up of what a client made up.
  static func isWellFormed(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && ASCII.lowercased($0) == $0 }
  }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
