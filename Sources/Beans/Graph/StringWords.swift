/// The two words that a string consists of.
///
/// A small string, of up to 15 bytes of UTF-8, is nothing else: its text and its length. That is so on all platforms with
/// words of 64 bits, where the third highest bit of the second word tells small strings from others.
struct StringWords: Equatable {
  let first: UInt
  let second: UInt

  @inline(__always)
  init(_ string: String?) {
    // No string is two zeros, and nil is.
    (first, second) = unsafeBitCast(string, to: (UInt, UInt).self)
  }

  @inline(__always)
  var isSmall: Bool { second & 1 << 61 != 0 }

  /// Where the object behind a large one stands, usually. Good for asking for it ahead of time, and for nothing else.
  @inline(__always)
  var object: UnsafeRawPointer? { isSmall ? nil : UnsafeRawPointer(bitPattern: second & (1 << 56 - 1)) }
}
