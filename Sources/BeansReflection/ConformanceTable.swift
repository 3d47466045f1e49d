import CBeansRuntime
@_spi(BeansPackage) import BeansSupport

/// The conformances that all loaded images declare, by protocol.
///
/// The runtime looks at every conformance of the process for each type and protocol that it is asked about for the first
/// time. This looks at them once, and again where images have been loaded since. Conformances that are registered
/// without an image, as debuggers do, are not seen.
struct ConformanceTable {
  private static let shared = Locked(ConformanceTable())

  private var imageCount = 0
  private var records: [Address: [ConformanceRecord]] = [:]
  /// What conforms to the protocols that have been asked for.
  private var conformers: [Address: Conformers] = [:]
  /// What has been asked for.
  private var protocolTypes: [Address: ProtocolType] = [:]

  /// Who conforms to each of these protocols (descriptors). Costs a lock, and a look at all conformances of the process
  /// where images have been loaded since the last one.
  static func conformers(of protocols: [Address?]) -> [Conformers?] {
    shared.withLock { table in
      table.update()
      return protocols.map { $0.map { table.conformers(of: $0) } }
    }
  }

  /// What a protocol type asks of types, kept from the first time on; nil for other types.
  static func protocolType(_ type: Any.Type) -> ProtocolType? {
    guard TypeRelation.kind(type) == ExistentialMetadata.kind else { return nil }
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
