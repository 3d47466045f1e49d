/// An id as a key: hashed eight bytes at a time, where a `String` takes some four hundred steps.
///
/// Good enough because ids are short, and nobody gains by making them collide.
struct IdKey: Hashable {
  let id: String

  init(_ id: String) { self.id = id }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// What dictionaries ask for. Only in ASCII do equal texts have equal bytes.
  func _rawHashValue(seed: Int) -> Int {
    let (hash, isASCII) = Self.mix(id, into: 0)
    return isASCII ? Int(bitPattern: hash) : hashBeyondASCII(seed: seed)
  }

  @inline(never)
  private func hashBeyondASCII(seed: Int) -> Int {
    let (hash, isASCII) = Self.mix(Self.folded(id), into: 0)
    return isASCII ? Int(bitPattern: hash) : id._rawHashValue(seed: seed)
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
