import CBeansRuntime

/// The types that conform to one protocol, as declared by the images that were loaded at creation.
final class Conformers: @unchecked Sendable {  // immutable; the pointers lead to memory of the program
  private let wanted: Address
  let byType: [Address: Conformance]
  /// Whether the descriptor of at least one conforming type is unknown.
  private let hasUnknownTypes: Bool

  init(to wanted: Address, _ records: [ConformanceRecord]) {
    self.wanted = wanted
    hasUnknownTypes = records.contains { unsafe $0.typeDescriptor == nil }
    let declared = records.lazy.compactMap { record in
      unsafe record.typeDescriptor.map { unsafe (Address($0), record.conformance) }
    }
    // Two modules may declare the same conformance.
    byType = Dictionary(declared, uniquingKeysWith: { _, _ in .uncertain })
  }

  /// Returns whether a type (metadata) or one of its superclasses conforms. Costs a probe for each.
  func conformance(of type: UnsafeRawPointer) -> Conformance {
    if hasUnknownTypes { return .uncertain }
    var next: UnsafeRawPointer? = unsafe type
    while let current = unsafe next {
      guard let descriptor = unsafe Self.descriptor(of: current) else { return .uncertain }
      if let found = unsafe byType[Address(descriptor)] { return found }
      unsafe next = unsafe Self.superclass(of: current)
    }
    return .absent
  }

  /// The descriptors of the types that declare the conformance; nil if one of them is unknown.
  var types: Dictionary<Address, Conformance>.Keys? { hasUnknownTypes ? nil : byType.keys }

  /// Returns the witness table of a type (metadata); nil if it does not conform. Queries the runtime only in uncertain
  /// cases.
  func witnessTable(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    switch unsafe conformance(of: type) {
    case .absent: nil
    case .certain(let table): unsafe table.pointer
    case .uncertain: unsafe swift_conformsToProtocol(type, wanted.pointer)
    }
  }

  /// Returns the descriptor of this type alone, or of all instances of the same generic type; nil if there is no unique
  /// one: tuples and functions have none, types imported from C may have several.
  static func descriptor(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    let descriptor = unsafe swift_getTypeContextDescriptor(type) ?? protocolDescriptor(of: type)
    let isUnique: UInt32 = 0x40
    return unsafe descriptor.flatMap { unsafe $0.load(as: UInt32.self) & isUnique == 0 ? nil : $0 }
  }

  /// Returns the descriptor of a type that is one protocol, such as `any Error`, which conforms to itself.
  private static func protocolDescriptor(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard unsafe type.load(as: UInt.self) == MetadataKind.existential else { return nil }
    let existential = unsafe ExistentialMetadata(type)
    return unsafe existential.protocols.count == 1 && existential.superclass == nil ? existential.protocols[0] : nil
  }

  static func superclass(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard unsafe type.load(as: UInt.self) == MetadataKind.class else { return nil }
    return unsafe type.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }
}

/// The conformers of several protocols, one bit for each, so that one probe decides about all.
struct CommonConformers: Sendable {
  /// The protocols to which a type conforms itself.
  private struct Bits {
    var certain: UInt32 = 0
    var possible: UInt32 = 0
  }

  private var byType: [Address: Bits] = [:]
  /// The protocols of which only the runtime knows all conformers.
  private var unknown: UInt32 = 0
  private let all: UInt32

  /// Merges up to 32 sets of conformers, in the order of their bits; nil for a protocol of which none are known.
  init(_ conformers: [Conformers?]) {
    all = UInt32(truncatingIfNeeded: (UInt64(1) << conformers.count) - 1)
    for (position, conformers) in conformers.enumerated() {
      let bit: UInt32 = 1 << position
      guard let conformers, conformers.types != nil else {
        unknown |= bit
        continue
      }
      for (type, conformance) in conformers.byType {
        if conformance == .uncertain {
          byType[type, default: Bits()].possible |= bit
        } else {
          byType[type, default: Bits()].certain |= bit
        }
      }
    }
  }

  /// Returns the protocols to which a type (metadata) or one of its superclasses conforms; `possible` if only the
  /// runtime can decide. Costs a probe for each superclass.
  func conformances(of type: UnsafeRawPointer) -> (certain: UInt32, possible: UInt32) {
    var found = Bits(possible: unknown)
    var next: UnsafeRawPointer? = unsafe type
    while let current = unsafe next {
      // The nearest class that declares a conformance decides.
      let open = all & ~(found.certain | found.possible)
      guard let descriptor = unsafe Conformers.descriptor(of: current) else {
        found.possible |= open
        break
      }
      if let bits = unsafe byType[Address(descriptor)] {
        found.certain |= bits.certain & open
        found.possible |= bits.possible & open
      }
      unsafe next = unsafe Conformers.superclass(of: current)
    }
    return (found.certain, found.possible)
  }
}
