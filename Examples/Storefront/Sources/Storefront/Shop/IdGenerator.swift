/// A generator of ids that cannot be guessed: 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal
/// digits. An id costs two system calls; safe from any thread.
final class IdGenerator: Sendable {
  init() {}

  func next() -> String {
    var random = SystemRandomNumberGenerator()
    return [random.next(), random.next()].map { (bits: UInt64) in
      let digits = String(bits, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
