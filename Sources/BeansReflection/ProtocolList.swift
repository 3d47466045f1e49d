@_spi(BeansPackage) import BeansSupport

/// A list of up to 32 protocols, for checks of types without the runtime, which is slow at the first query for a type.
package final class ProtocolList: Sendable {
  private let descriptors: [Address?]
  /// The conformers of each protocol, and the number of images that they were read from.
  private let known = Locked<(images: Int, conformers: [Conformers?])>((0, []))

  package init(_ types: [Any.Type]) {
    descriptors = types.map { unsafe TypeRelation.protocols(of: $0).first.map { unsafe Address($0) } }
  }

  /// Returns the protocols to which the type conforms, one bit for each, in order; `possible` if only the runtime can
  /// decide.
  ///
  /// Costs a lock and some probes; if images have been loaded since the last call, also a scan of all conformances of
  /// the process.
  package func conformances(of type: Any.Type) -> (certain: UInt32, possible: UInt32) {
    let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    var certain: UInt32 = 0
    var possible: UInt32 = 0
    var bit: UInt32 = 1
    for conformers in upToDate {
      switch unsafe conformers?.conformance(of: metadata) {
      case .absent: break
      case .certain: certain |= bit
      case .uncertain, nil: possible |= bit
      }
      bit <<= 1
    }
    return (certain, possible)
  }

  private var upToDate: [Conformers?] {
    guard RuntimeLayout.hasConformances else { return descriptors.map { _ in nil } }
    return known.withLock { known in
      let images = LoadedImages.count
      if known.images != images { known = (images, ConformanceTable.conformers(of: descriptors)) }
      return known.conformers
    }
  }
}
