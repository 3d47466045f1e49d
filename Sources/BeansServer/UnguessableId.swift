/// Ids that cannot be guessed.
package enum UnguessableId {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal digits. Two system calls. Callable
  /// from any thread.
  package static func make() -> String {
    var random = SystemRandomNumberGenerator()
    var text: [UInt8] = []
    text.reserveCapacity(32)
    for _ in 0..<2 {
      let bits = random.next()
      for place in 1...16 { text.append(digits[Int(bits >> UInt64(64 - 4 * place) & 15)]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns whether a text has the form of a result of `make()`.
  package static func hasForm(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy(digits.contains)
  }
}
