/// The place of a call in the source, as a literal: two words, for objects of which there are many.
@usableFromInline
struct CallPlace: Sendable {
  @usableFromInline let file: FrozenReference<UInt8>
  @usableFromInline let line: UInt32

  /// Inlined into the caller, where the literal is known.
  @inlinable @inline(__always)
  init(file: StaticString, line: UInt) {
    self.file = FrozenReference(literal: file)
    self.line = UInt32(truncatingIfNeeded: line)
  }
}
