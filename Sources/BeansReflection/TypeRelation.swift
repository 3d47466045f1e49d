/// Decides from the types alone if an instance of one type can be used as another.
///
/// The standard library decides this for instances only, and startup checks the graph before instances exist.
package enum TypeRelation {
  /// Returns whether every instance of `type` is a `wanted`. For many types, see `ProtocolType`.
  package static func isUsable(_ type: Any.Type, as wanted: Any.Type) -> Bool {
    if type == wanted { return true }
    if let wanted = wanted as? AnyClass {
      guard let type = type as? AnyClass else { return false }
      return ClassHierarchy.isSubclass(type, of: wanted)
    }
    return ProtocolType(wanted)?.isMet(by: type) ?? false
  }

  /// Returns the layout of a value of protocol type `wanted` with an instance of a class (its metadata), besides the
  /// reference. Nil if `wanted` is no protocol type or has another layout (`any Error`, constrained ones), and if the
  /// class does not conform.
  package static func shape(
    of wanted: Any.Type, for metadata: UnsafeRawPointer
  ) -> (isClassBound: Bool, witnesses: [UnsafeRawPointer])? {
    unsafe ProtocolType(wanted)?.shape(for: metadata)
  }

  /// Returns whether `type` is a protocol type, a composition, `Any` or `AnyObject`, constrained or not.
  package static func isExistential(_ type: Any.Type) -> Bool {
    let kind = MetadataKind.of(type)
    return kind == MetadataKind.existential || kind == MetadataKind.constrainedExistential
  }

  /// Returns whether `type` is a protocol or a composition that names one, and not constrained.
  static func isProtocol(_ type: Any.Type) -> Bool { ProtocolType(type)?.hasProtocols ?? false }

  /// Returns the descriptors of the protocols that a protocol type names; empty for other types.
  package static func protocols(of type: Any.Type) -> [UnsafeRawPointer] { unsafe ProtocolType(type)?.protocols ?? [] }
}
