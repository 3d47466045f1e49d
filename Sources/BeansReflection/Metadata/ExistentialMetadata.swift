/// The metadata of an unconstrained protocol type: flags, superclass, protocol descriptors. `RuntimeLayout` has
/// verified this layout.
@safe struct ExistentialMetadata: @unchecked Sendable {  // immutable; the pointers lead to memory of the program
  let isClassBound: Bool
  /// Whether the type is `any Error`, which is stored in a box.
  let isSpecial: Bool
  let witnessCount: Int
  let superclass: AnyClass?
  let protocols: [UnsafeRawPointer]

  /// Reads `metadata`, which is of this kind.
  init(_ metadata: UnsafeRawPointer) {
    let word = unsafe MemoryLayout<UnsafeRawPointer>.size
    let flags = unsafe metadata.load(fromByteOffset: word, as: UInt32.self)
    let count = unsafe Int(metadata.load(fromByteOffset: word + 4, as: UInt32.self))
    isClassBound = flags & Self.anyClassAllowed == 0
    isSpecial = flags & Self.specialProtocol != 0
    witnessCount = Int(flags & Self.witnessTables)
    var next = unsafe metadata + 2 * word
    if flags & Self.hasSuperclass != 0 {
      superclass = unsafe unsafeBitCast(next.load(as: UnsafeRawPointer.self), to: Any.Type.self) as? AnyClass
      unsafe next += word
    } else {
      superclass = nil
    }
    unsafe protocols = unsafe (0..<count).map { unsafe next.load(fromByteOffset: $0 * word, as: UnsafeRawPointer.self) }
  }

  private static let anyClassAllowed: UInt32 = 0x8000_0000
  private static let hasSuperclass: UInt32 = 0x4000_0000
  private static let specialProtocol: UInt32 = 0x3F00_0000
  private static let witnessTables: UInt32 = 0x00FF_FFFF
}
