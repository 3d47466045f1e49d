@_spi(BeansPackage) import BeansErrors

/// A list of up to 32 protocols, for checks of types without the runtime, which is slow at the first query for a type.
package final class ProtocolList: Sendable {
  private let descriptors: [Address?]
  /// The conformers of all protocols, and the number of images that they were read from.
  private let known = Locked<(images: Int, conformers: CommonConformers)>((0, CommonConformers([])))

  package init(_ types: [Any.Type]) {
    descriptors = types.map { unsafe TypeRelation.protocols(of: $0).first.map { unsafe Address($0) } }
  }

  /// Returns the protocols to which the type conforms, one bit for each, in order; `possible` if only the runtime can
  /// decide.
  ///
  /// Costs a lock and a probe for each superclass; if images have been loaded since the last call, also a scan of all
  /// conformances of the process.
  package func conformances(of type: Any.Type) -> (certain: UInt32, possible: UInt32) {
    unsafe upToDate.conformances(of: unsafeBitCast(type, to: UnsafeRawPointer.self))
  }

  private var upToDate: CommonConformers {
    guard RuntimeLayout.hasConformances else { return CommonConformers(descriptors.map { _ in nil }) }
    return known.withLock { known in
      let images = LoadedImages.count
      if known.images != images {
        known = (images, CommonConformers(ConformanceTable.conformers(of: descriptors)))
      }
      return known.conformers
    }
  }
}
