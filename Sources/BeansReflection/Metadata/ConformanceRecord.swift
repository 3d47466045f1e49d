/// A conformance that one type declares, in any image; its subclasses inherit it.
@safe struct ConformanceRecord: @unchecked Sendable {  // immutable: memory that only the compiler writes
  let address: UnsafeRawPointer

  /// The descriptor of the protocol; nil if the protocol belongs to a weakly linked library that is missing.
  var protocolDescriptor: UnsafeRawPointer? { unsafe address.indirectTarget() }

  /// The descriptor of the type; nil if the record does not refer to it by address, as for a type from Objective-C.
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
    // The conformance has conditions, or the runtime makes the witness table.
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

/// The relation of a type to a protocol.
enum Conformance: Equatable {
  case absent
  /// The type conforms, with that witness table.
  case certain(Address)
  /// Only the runtime can decide: for conformances with conditions, and for types imported from C or without a name.
  case uncertain
}

/// A place in memory as a key. Hashed by one multiplication; hashing a pointer takes some two hundred steps.
///
/// A weak hash is sufficient because addresses are not chosen by an attacker.
struct Address: Hashable {
  private let value: UInt

  init(_ pointer: UnsafeRawPointer) { value = UInt(bitPattern: pointer) }

  var pointer: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: value) }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }

  /// Returns the hash that dictionaries use: Fibonacci hashing, with the good upper half in the bits that they read.
  func _rawHashValue(seed: Int) -> Int {
    let product = value &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product ^ (product >> 32))
  }
}
