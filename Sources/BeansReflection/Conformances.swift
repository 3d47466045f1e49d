import CBeansRuntime

/// Protocols that types are asked about, up to 32 at a time, as far as it can be told without the runtime: that is slow to
/// answer for a type it has not seen.
package struct ProtocolList: @unchecked Sendable {  // immutable; what the pointers lead to belongs to the program
  private let descriptors: [UnsafeRawPointer?]

  package init(_ types: [Any.Type]) { descriptors = types.map { TypeRelation.protocols(of: $0).first } }

  /// Which of them the type conforms to, one bit for each, in their order.
  ///
  /// Costs a lock and some probes; a look at all conformances of the process where images have been loaded since the
  /// last one.
  package func conformances(of type: Any.Type) -> (certain: UInt32, possible: UInt32) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let found = beans_find_conformances(metadata, descriptors, UInt32(descriptors.count))
    return (found.certain, found.possible)
  }
}
