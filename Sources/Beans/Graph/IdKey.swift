/// An id as a key: hashed eight bytes at a time, where a `String` takes some four hundred steps.
///
/// Good enough because ids are short, and nobody gains by making them collide.
struct IdKey: Equatable {
  let id: String
  /// Equal for equal ids.
  let hash: UInt32

  init(_ id: String) {
    self.id = id
    let (hash, isASCII) = Self.mix(id, into: 0)
    // Only in ASCII do equal texts have equal bytes.
    self.hash = UInt32(truncatingIfNeeded: isASCII ? hash : Self.hashBeyondASCII(id))
  }

  /// One that has been hashed before.
  init(_ id: String, hash: UInt32) {
    self.id = id
    self.hash = hash
  }

  @inline(never)
  private static func hashBeyondASCII(_ id: String) -> UInt {
    let (hash, isASCII) = mix(folded(id), into: 0)
    return isASCII ? hash : UInt(bitPattern: id.hashValue)
  }

  /// Three characters are equal to one of ASCII.
  private static func folded(_ id: String) -> String {
    var folded = String.UnicodeScalarView()
    for scalar in id.unicodeScalars {
      switch scalar {
      case "\u{037E}": folded.append(";")
      case "\u{1FEF}": folded.append("`")
      case "\u{212A}": folded.append("K")
      default: folded.append(scalar)
      }
    }
    return String(folded)
  }

  /// Answers, too, whether the id is ASCII.
  static func mix(_ id: String, into start: UInt) -> (hash: UInt, isASCII: Bool) {
    // In place: `withUTF8` wants a string of its own.
    id.utf8.withContiguousStorageIfAvailable { mix(UnsafeRawBufferPointer($0), into: start) }
      ?? Array(id.utf8).withUnsafeBytes { mix($0, into: start) }
  }

  private static func mix(_ bytes: UnsafeRawBufferPointer, into start: UInt) -> (hash: UInt, isASCII: Bool) {
    var (hash, all, index) = (start &+ UInt(bytes.count), UInt(0), 0)
    func mix(_ word: UInt) {
      all |= word
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    while index &+ 8 <= bytes.count {
      mix(bytes.loadUnaligned(fromByteOffset: index, as: UInt.self))
      index &+= 8
    }
    var rest: UInt = 0
    while index < bytes.count {
      rest = rest << 8 | UInt(bytes[index])
      index &+= 1
    }
    mix(rest)
    return (hash, all & 0x8080_8080_8080_8080 == 0)
  }
}
