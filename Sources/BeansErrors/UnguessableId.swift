#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Ids that cannot be guessed.
package enum UnguessableId {
  private static let digits = Array("0123456789abcdef".utf8)
  private static let random = Locked(RandomBytes())

  /// Returns 128 bits from the kernel's generator (`getrandom`), as 32 hexadecimal digits. One system call for 16 ids.
  /// Callable from any thread.
  package static func make() -> String { String(decoding: makeText(), as: UTF8.self) }

  /// Returns an id as `make()` does, as ASCII bytes.
  package static func makeText() -> [UInt8] {
    let bits = random.withLock { $0.next() }
    return (0..<32).map { digits[Int(truncatingIfNeeded: bits >> UInt128(4 * $0)) & 15] }
  }

  /// Returns whether a text has the form of a result of `make()`.
  package static func hasForm(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy(digits.contains)
  }
}

/// Bytes from the kernel's generator, drawn in advance, so that most ids need no system call.
///
/// Each byte is used once, and erased when it is used: the memory of the process contains no bits of an id because of
/// this buffer once the id is made. Copies of the process by `fork` without `exec` would repeat the unused bytes. They
/// are not supported: a copy has none of the threads of the event loops.
private struct RandomBytes {
  /// As many bytes as the kernel returns in one call without an interruption by a signal.
  private static let size = 256
  private var words = [UInt128](repeating: 0, count: size / 16)
  /// The number of unused words, which are the first ones.
  private var unused = 0

  /// Returns 128 bits that no earlier call has returned.
  mutating func next() -> UInt128 {
    if unused == 0 { refill() }
    unused -= 1
    defer { words[unused] = 0 }
    return words[unused]
  }

  private mutating func refill() {
    // Safe: the buffer belongs to the array, which lives for the call.
    #if canImport(Darwin)
      unsafe words.withUnsafeMutableBytes { unsafe arc4random_buf($0.baseAddress, $0.count) }
    #else
      let status = unsafe words.withUnsafeMutableBytes { unsafe getentropy($0.baseAddress, $0.count) }
      // An id from other bytes could be guessed.
      precondition(status == 0, "the kernel has no random numbers")
    #endif
    unused = words.count
  }
}
