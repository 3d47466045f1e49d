@_spi(BeansPackage) import BeansSupport

/// Protocols that types are asked about, up to 32 at a time, as far as it can be told without the runtime: that is slow to
/// answer for a type it has not seen.
package final class ProtocolList: Sendable {
  private let descriptors: [Address?]
  /// Who conforms to each of them, and how many images that was read from.
  private let known = Locked<(images: Int, conformers: [Conformers?])>((0, []))

  package init(_ types: [Any.Type]) {
    descriptors = types.map { unsafe TypeRelation.protocols(of: $0).first.map { unsafe Address($0) } }
  }

  /// Which of them the type conforms to, one bit for each, in their order; where only the runtime can say, `possible`.
  ///
  /// Costs a lock and some probes; a look at all conformances of the process where images have been loaded since the
  /// last one.
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
