/// A number for an id of a lookup, from its length and at most 24 of its bytes: hashing all of a string, as a `Dictionary`
/// does, takes some four hundred instructions.
enum IdHash {
  /// Never 0. Equal texts whose bytes differ have hashes of their own.
  @inline(__always)
  static func of(_ id: String, in type: UInt) -> UInt {
    let contiguous = id.utf8.withContiguousStorageIfAvailable { Self.hash($0, type) }
    return (contiguous ?? Array(id.utf8).withUnsafeBufferPointer { Self.hash($0, type) }) | 1
  }

  @inline(__always)
  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ type: UInt) -> UInt {
    let (raw, count) = (UnsafeRawBufferPointer(bytes), bytes.count)
    var hash = type ^ UInt(count)
    if count >= 8 {
      hash = mix(hash, raw.loadUnaligned(as: UInt.self))
      if count > 16 { hash = mix(hash, raw.loadUnaligned(fromByteOffset: count / 2 - 4, as: UInt.self)) }
      return mix(hash, raw.loadUnaligned(fromByteOffset: count - 8, as: UInt.self))
    }
    if count >= 4 {
      let first = UInt(raw.loadUnaligned(as: UInt32.self))
      return mix(hash, first << 32 | UInt(raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)))
    }
    if count == 0 { return mix(hash, 0) }
    return mix(hash, UInt(raw[0]) << 16 | UInt(raw[count / 2]) << 8 | UInt(raw[count - 1]))
  }

  @inline(__always)
  private static func mix(_ hash: UInt, _ word: UInt) -> UInt {
    let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ mixed >> 29
  }
}
