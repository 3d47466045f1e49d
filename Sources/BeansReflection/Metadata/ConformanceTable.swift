@_spi(BeansPackage) import BeansErrors
import CBeansRuntime

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

  /// Returns the conformers of each of these protocols (descriptors), and nil for nil. Costs a lock; if images have
  /// been loaded since the last call, also a scan of all conformances of the process.
  static func conformers(of protocols: [Address?]) -> [Conformers?] {
    shared.withLock { table in
      table.update()
      return protocols.map { $0.map { table.conformers(of: $0) } }
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
