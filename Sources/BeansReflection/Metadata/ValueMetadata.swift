/// The metadata of tuples and metatypes, and the flags of all values. `RuntimeLayout` has verified this layout.
enum ValueMetadata {
  /// Returns the element types of a tuple: its metadata is count, labels, then pairs of type and offset.
  static func elements(_ tuple: Any.Type) -> [Any.Type] {
    let metadata = unsafe unsafeBitCast(tuple, to: UnsafeRawPointer.self)
    return unsafe (0..<metadata.load(fromByteOffset: word, as: Int.self)).map { index in
      unsafe unsafeBitCast(
        metadata.load(fromByteOffset: (3 + 2 * index) * word, as: UnsafeRawPointer.self), to: Any.Type.self)
    }
  }

  /// Returns the type with this metatype.
  static func instance(_ metatype: Any.Type) -> Any.Type {
    let metadata = unsafe unsafeBitCast(metatype, to: UnsafeRawPointer.self)
    return unsafe unsafeBitCast(metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self), to: Any.Type.self)
  }

  /// Returns whether values must not be copied. The flag is in the value witness table, whose address precedes the
  /// metadata: eight functions, size, stride, flags.
  static func isNoncopyable(_ metadata: UnsafeRawPointer) -> Bool {
    let witnesses = unsafe metadata.load(fromByteOffset: -word, as: UnsafeRawPointer.self)
    return unsafe witnesses.load(fromByteOffset: 10 * word, as: UInt32.self) & 0x0080_0000 != 0
  }

  private static let word = unsafe MemoryLayout<UnsafeRawPointer>.size
}
