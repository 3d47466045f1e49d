/// Whether an instance of one type can be used as another, decided from the types alone.
///
/// The standard library answers this for instances only, and the graph is checked before there are any.
package enum TypeRelation {
  /// Whether every `type` is a `wanted`. To ask for many types, see `ProtocolType`.
  package static func isUsable(_ type: Any.Type, as wanted: Any.Type) -> Bool {
    if type == wanted { return true }
    if let wanted = wanted as? AnyClass {
      guard let type = type as? AnyClass else { return false }
      return isSubclass(type, of: wanted)
    }
    return ProtocolType(wanted)?.isMet(by: type) ?? false
  }

  /// What a value of protocol type `wanted` holds of a class (its metadata) beside the reference; nil where `wanted` is
  /// none, is made in another way (`any Error`, constrained ones), or asks for more than the class has.
  package static func shape(
    of wanted: Any.Type, for metadata: UnsafeRawPointer
  ) -> (isClassBound: Bool, witnesses: [UnsafeRawPointer])? {
    unsafe ProtocolType(wanted)?.shape(for: metadata)
  }

  /// Whether `type` is a protocol type, a composition, `Any` or `AnyObject`, constrained or not.
  package static func isExistential(_ type: Any.Type) -> Bool {
    let kind = kind(type)
    return kind == ExistentialMetadata.kind || kind == ExistentialMetadata.constrainedKind
  }

  /// Whether `type` is a protocol or a composition that names one, and not constrained.
  static func isProtocol(_ type: Any.Type) -> Bool { ProtocolType(type)?.hasProtocols ?? false }

  /// The descriptors of the protocols that a protocol type names; empty for other types.
  package static func protocols(of type: Any.Type) -> [UnsafeRawPointer] { unsafe ProtocolType(type)?.protocols ?? [] }

  /// `type` and its superclasses, nearest first; empty for a type that is not a class.
  package static func classes(of type: Any.Type) -> [AnyClass] {
    var classes: [AnyClass] = []
    var next: AnyClass? = type as? AnyClass
    while let current = next {
      classes.append(current)
      next = _getSuperclass(current)
    }
    return classes
  }

  static func isSubclass(_ type: AnyClass, of wanted: AnyClass) -> Bool {
    var next: AnyClass? = type
    while let current = next {
      if current == wanted { return true }
      next = _getSuperclass(current)
    }
    return false
  }

  /// What sort of type it is, as the runtime numbers them.
  static func kind(_ type: Any.Type) -> UInt { getMetadataKind(type) }
}

/// Exported by the Swift runtime for the standard library.
@_silgen_name("swift_getMetadataKind")
private func getMetadataKind(_ type: Any.Type) -> UInt
