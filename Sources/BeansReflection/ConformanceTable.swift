import CBeansRuntime
@_spi(BeansPackage) import BeansSupport

/// The conformances that all loaded images declare, by protocol.
///
/// The runtime scans every conformance of the process at the first query for each type and protocol. This table scans
/// them once, and again after images have been loaded. It does not contain conformances that are registered without an
/// image, as debuggers do.
struct ConformanceTable {
  private static let shared = Locked(ConformanceTable())

  private var imageCount = 0
  private var records: [Address: [ConformanceRecord]] = [:]
  /// The conformers of each protocol that was looked up.
  private var conformers: [Address: Conformers] = [:]
  /// The protocol types that were looked up.
  private var protocolTypes: [Address: ProtocolType] = [:]

  /// Returns the conformers of each of these protocols (descriptors). Costs a lock; if images have been loaded since
  /// the last call, also a scan of all conformances of the process.
  static func conformers(of protocols: [Address?]) -> [Conformers?] {
    shared.withLock { table in
      table.update()
      return protocols.map { $0.map { table.conformers(of: $0) } }
    }
  }

  /// Returns the requirements of a protocol type, cached after the first call; nil for other types.
  static func protocolType(_ type: Any.Type) -> ProtocolType? {
    guard MetadataKind.of(type) == MetadataKind.existential else { return nil }
    return shared.withLock { table in
      table.update()
      let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      let key = unsafe Address(metadata)
      if let known = table.protocolTypes[key] { return known }
      let existential = unsafe ExistentialMetadata(metadata)
      let made = unsafe ProtocolType(
        reading: type, existential, existential.protocols.map { unsafe table.conformers(of: Address($0)) })
      table.protocolTypes[key] = made
      return made
    }
  }

  private mutating func update() {
    guard imageCount != LoadedImages.count else { return }
    let images = unsafe LoadedImages.sections
    self = ConformanceTable()
    imageCount = unsafe images.count
    for index in unsafe images.indices {
      unsafe images[index].conformances.forEachReference { reference in
        guard let record = unsafe reference.indirectTarget().map({ unsafe ConformanceRecord(address: $0) }),
          let wanted = unsafe record.protocolDescriptor.map({ unsafe Address($0) })
        else { return }
        records[wanted, default: []].append(record)
      }
    }
  }

  private mutating func conformers(of wanted: Address) -> Conformers {
    if let known = conformers[wanted] { return known }
    let made = Conformers(to: wanted, records[wanted] ?? [])
    conformers[wanted] = made
    return made
  }
}
