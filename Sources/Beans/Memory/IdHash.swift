/// The hash of a lookup's id, from its length and at most 24 of its bytes. Hashing the whole string, as a `Dictionary`
/// does, takes about 400 instructions.
///
/// A string of at most 15 bytes is nearly always stored in its two words, which are hashed directly. A string with
/// another representation has another hash than its equals, so a lookup by it takes the general path.
enum IdHash {
  /// Returns the two words of a string that is short enough to have no other storage; nil for a longer one.
  @inline(__always)
  static func words(_ id: String) -> (UInt, UInt)? {
    if id.utf8.count < 16 { uncheckedCast(id, to: (UInt, UInt).self) } else { nil }
  }

  /// Whether the words represent the string. Strings of equal words are equal.
  @inline(__always)
  static func consists(_ id: String, of words: (UInt, UInt)) -> Bool {
    uncheckedCast(id, to: (UInt, UInt).self) == words
  }

  /// Returns the hash of an id, which is never 0. Equal texts with different bytes have different hashes.
  static func of(_ id: String, in type: UInt) -> UInt {
    if let words = words(id) { return of(words, in: type) }
    return FrozenReference.with(id) { hash($0, $1, type) } | 1
  }

  @inline(__always)
  static func of(_ words: (UInt, UInt), in type: UInt) -> UInt {
    let first = (type ^ words.0) &* 0x9E37_79B9_7F4A_7C15
    return mix(first ^ first >> 32, words.1) | 1
  }

  @inline(__always)
  private static func hash(_ bytes: FrozenReference<UInt8>, _ count: Int, _ type: UInt) -> UInt {
    var hash = type ^ UInt(count)
    hash = mix(hash, bytes.word(at: 0))
    hash = mix(hash, bytes.word(at: count / 2 - 4))
    return mix(hash, bytes.word(at: count - 8))
  }

  @inline(__always)
  private static func mix(_ hash: UInt, _ word: UInt) -> UInt {
    // The last bytes of a text are the high ones of a word: only the high half of the product depends on all of them.
    let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}
