import CBeansRuntime

/// The types that conform to one protocol, as far as the images declare it that were loaded when this was made.
final class Conformers: @unchecked Sendable {  // immutable; what the pointers lead to belongs to the program
  private let wanted: Address
  private let byType: [Address: Conformance]
  /// Whether there are some whose descriptor nobody here can tell.
  private let hasUnknownTypes: Bool

  init(to wanted: Address, _ records: [ConformanceRecord]) {
    self.wanted = wanted
    hasUnknownTypes = records.contains { unsafe $0.typeDescriptor == nil }
    let declared = records.lazy.compactMap { record in
      unsafe record.typeDescriptor.map { unsafe (Address($0), record.conformance) }
    }
    // Two modules may declare the same.
    byType = Dictionary(declared, uniquingKeysWith: { _, _ in .uncertain })
  }

  /// Whether a type (metadata) or one of its superclasses conforms. A probe for each.
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

  /// The witness table of a type (metadata); nil where it does not conform. Asks the runtime where it has to.
  func witnessTable(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    switch unsafe conformance(of: type) {
    case .absent: nil
    case .certain(let table): unsafe table.pointer
    case .uncertain: unsafe swift_conformsToProtocol(type, wanted.pointer)
    }
  }

  /// The descriptor that only this type has, or all instances of the same generic type; nil where there is no such one:
  /// tuples and functions have none, types that are imported from C may have several.
  private static func descriptor(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    let descriptor = unsafe swift_getTypeContextDescriptor(type) ?? protocolDescriptor(of: type)
    let isUnique: UInt32 = 0x40
    return unsafe descriptor.flatMap { unsafe $0.load(as: UInt32.self) & isUnique == 0 ? nil : $0 }
  }

  /// That of a type that is one protocol, as `any Error`, which conforms to itself.
  private static func protocolDescriptor(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard unsafe type.load(as: UInt.self) == ExistentialMetadata.kind else { return nil }
    let existential = unsafe ExistentialMetadata(type)
    return unsafe existential.protocols.count == 1 && existential.superclass == nil ? existential.protocols[0] : nil
  }

  private static func superclass(of type: UnsafeRawPointer) -> UnsafeRawPointer? {
    let classKind: UInt = 0
    guard unsafe type.load(as: UInt.self) == classKind else { return nil }
    return unsafe type.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }
}
