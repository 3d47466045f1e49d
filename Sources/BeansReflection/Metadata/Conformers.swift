import CBeansRuntime

/// The types that conform to one protocol, as declared by the images that were loaded at creation.
final class Conformers: @unchecked Sendable {  // immutable; the pointers lead to memory of the program
  private let wanted: Address
  private let byType: [Address: Conformance]
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
  private static func descriptor(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
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

  private static func superclass(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard unsafe type.load(as: UInt.self) == MetadataKind.class else { return nil }
    return unsafe type.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }
}
