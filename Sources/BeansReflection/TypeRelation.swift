import CBeansRuntime

/// Whether an instance of one type can be used as another, decided from the types alone.
///
/// The standard library answers this for instances only, and the graph is checked before there are any. So the
/// conformance question is put to the runtime directly: `swift_conformsToProtocol` and the metadata of existential
/// types (kind, flags, superclass, protocol descriptors) are part of the stable runtime interface.
package enum TypeRelation {
  /// Whether every `type` is a `wanted`. Costs a metadata walk; startup only, and the first lookup by a new type.
  package static func isUsable(_ type: Any.Type, as wanted: Any.Type) -> Bool {
    if type == wanted { return true }
    if let wanted = wanted as? AnyClass {
      guard let type = type as? AnyClass else { return false }
      return isSubclass(type, of: wanted)
    }
    guard let existential = Existential(wanted) else { return false }
    if existential.isClassBound && !(type is AnyObject.Type) { return false }
    if let superclass = existential.superclass {
      guard let type = type as? AnyClass, let wanted = superclass as? AnyClass, isSubclass(type, of: wanted) else {
        return false
      }
    }
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    return existential.protocols.allSatisfy { beans_conformance(metadata, $0) != nil }
  }

  /// What a value of protocol type `wanted` holds of a class (its metadata) beside the reference; nil where `wanted` is
  /// none, is made in another way (`any Error`, constrained ones), or asks for more than the class has.
  package static func shape(
    of wanted: Any.Type, for metadata: UnsafeRawPointer
  ) -> (isClassBound: Bool, witnesses: [UnsafeRawPointer])? {
    guard let existential = Existential(wanted), !existential.isSpecial else { return nil }
    let witnesses = existential.protocols.compactMap { beans_conformance(metadata, $0) }
    guard witnesses.count == existential.protocols.count, witnesses.count == existential.witnessCount else {
      return nil
    }
    return (existential.isClassBound, witnesses)
  }

  /// Whether `type` is a protocol type, a composition, `Any` or `AnyObject`, constrained or not.
  package static func isExistential(_ type: Any.Type) -> Bool {
    let kind = unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self)
    return kind == Existential.metadataKind || kind == Existential.extendedMetadataKind
  }

  /// Whether `type` is a protocol or a composition that names one, and not constrained.
  static func isProtocol(_ type: Any.Type) -> Bool { Existential(type).map { !$0.protocols.isEmpty } ?? false }

  /// The descriptors of the protocols that a protocol type names; empty for other types.
  package static func protocols(of type: Any.Type) -> [UnsafeRawPointer] { Existential(type)?.protocols ?? [] }

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

  private static func isSubclass(_ type: AnyClass, of wanted: AnyClass) -> Bool {
    var next: AnyClass? = type
    while let current = next {
      if current == wanted { return true }
      next = _getSuperclass(current)
    }
    return false
  }
}

/// The parts of an existential type's metadata that say what it asks of a type.
private struct Existential {
  var isClassBound = false
  /// `any Error`, which lives in a box.
  var isSpecial = false
  var witnessCount = 0
  var superclass: Any.Type?
  var protocols: [UnsafeRawPointer] = []

  /// nil for a type that is no plain existential. Constrained ones (`any P<Int>`) have another kind of metadata: a bean
  /// answers to them only where it is declared as exactly that type.
  init?(_ type: Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard metadata.load(as: UInt.self) == Self.metadataKind else { return nil }
    let word = MemoryLayout<UnsafeRawPointer>.size
    let flags = metadata.load(fromByteOffset: word, as: UInt32.self)
    let count = Int(metadata.load(fromByteOffset: word + 4, as: UInt32.self))
    isClassBound = flags & Self.anyClassAllowed == 0
    isSpecial = flags & Self.specialProtocol != 0
    witnessCount = Int(flags & Self.witnessTables)
    var next = metadata + 2 * word
    if flags & Self.hasSuperclass != 0 {
      superclass = unsafeBitCast(next.load(as: UnsafeRawPointer.self), to: Any.Type.self)
      next += word
    }
    for _ in 0..<count {
      protocols.append(next.load(as: UnsafeRawPointer.self))
      next += word
    }
  }

  static let metadataKind: UInt = 0x303
  static let extendedMetadataKind: UInt = 0x307
  private static let anyClassAllowed: UInt32 = 0x8000_0000
  private static let hasSuperclass: UInt32 = 0x4000_0000
  private static let specialProtocol: UInt32 = 0x3F00_0000
  private static let witnessTables: UInt32 = 0x00FF_FFFF
}
