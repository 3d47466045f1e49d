/// What one type declares, in whichever image; its subclasses inherit it.
@safe struct ConformanceRecord: @unchecked Sendable {  // the compiler has written it, and nobody else does
  let address: UnsafeRawPointer

  /// nil for that of a library that is linked weakly and is missing.
  var protocolDescriptor: UnsafeRawPointer? { unsafe address.indirectTarget() }

  /// The descriptor; nil where it is not simply referred to by its address, as that of a type from Objective-C.
  var typeDescriptor: UnsafeRawPointer? {
    let place = 4
    if flags & Self.isOfProtocol != 0 { return nil }
    switch flags & Self.referenceKind {
    case Self.referenceToDescriptor: return unsafe address.target(at: place)
    case Self.referenceToPointer: return unsafe address.target(at: place)?.load(as: UnsafeRawPointer?.self)
    default: return nil
    }
  }

  var conformance: Conformance {
    // There are conditions, or the runtime makes the table.
    if flags & (Self.isConditional | Self.hasGenericTable | Self.isIsolated) != 0 { return .uncertain }
    return unsafe address.indirectTarget(at: 8).map { unsafe .certain(Address($0)) } ?? .uncertain
  }

  private var flags: UInt32 { unsafe address.load(fromByteOffset: 12, as: UInt32.self) }

  private static let referenceKind: UInt32 = 7 << 3
  private static let referenceToDescriptor: UInt32 = 0 << 3
  private static let referenceToPointer: UInt32 = 1 << 3
  private static let isConditional: UInt32 = 0xFF << 8
  private static let hasGenericTable: UInt32 = 1 << 17
  private static let isOfProtocol: UInt32 = 1 << 18
  private static let isIsolated: UInt32 = 1 << 19
}

/// Whether a type conforms to a protocol.
enum Conformance: Equatable {
  case absent
  /// With that witness table.
  case certain(Address)
  /// Only the runtime can say: of conformances with conditions, and of types that are imported from C or have no name.
  case uncertain
}

/// A place in memory as a key: hashed by a multiplication, where pointers take some two hundred steps.
///
/// Good enough because nobody chooses addresses to make them collide.
struct Address: Hashable {
  private let value: UInt

  init(_ pointer: UnsafeRawPointer) { value = UInt(bitPattern: pointer) }

  var pointer: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: value) }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }

  /// What dictionaries ask for: Fibonacci hashing, with the good upper half where they look.
  func _rawHashValue(seed: Int) -> Int {
    let product = value &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product ^ (product >> 32))
  }
}
