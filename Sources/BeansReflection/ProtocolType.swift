import CBeansRuntime

/// A protocol type, or a composition, taken apart once so that many types can be asked whether they meet it.
///
/// Knows the conformances of the images that were loaded when it was made: for one loop, not to be kept.
package struct ProtocolType: Sendable {
  private enum Way: Sendable {
    case reading(ExistentialMetadata, [Conformers])
    /// The type `any P.Type`: casts to it the runtime is slow to answer for a type it has not seen.
    case casting(Any.Type)
  }

  /// Together, so that a protocol type is passed on as one reference.
  private final class Parts: Sendable {
    let type: Any.Type
    let way: Way

    init(_ type: Any.Type, _ way: Way) {
      self.type = type
      self.way = way
    }
  }

  private let parts: Parts

  /// nil for what is no protocol type, and for constrained ones (`any P<Int>`): a bean answers to those only where it is
  /// declared as exactly that type.
  ///
  /// Costs a lock and a probe; a look at all conformances of the process where images have been loaded since the last one.
  package init?(_ type: Any.Type) {
    let made = RuntimeLayout.hasConformances ? ConformanceTable.protocolType(type) : ProtocolType(casting: type)
    guard let made else { return nil }
    self = made
  }

  /// One that asks those who conform to its protocols, in the order of the metadata.
  init(reading type: Any.Type, _ existential: ExistentialMetadata, _ conformers: [Conformers]) {
    parts = Parts(type, .reading(existential, conformers))
  }

  /// One that relies on no layout.
  init?(casting type: Any.Type) {
    guard TypeRelation.kind(type) == ExistentialMetadata.kind,
      let metatype = unsafe swift_getExistentialMetatypeMetadata(unsafeBitCast(type, to: UnsafeRawPointer.self))
    else { return nil }
    parts = unsafe Parts(type, .casting(unsafeBitCast(metatype, to: Any.Type.self)))
  }

  /// Whether every `type` is one. Costs a probe for each protocol and superclass.
  package func isMet(by type: Any.Type) -> Bool {
    if type == parts.type { return true }
    switch parts.way {
    case .reading(let existential, let conformers):
      if existential.isClassBound && !(type is AnyObject.Type) { return false }
      if let superclass = existential.superclass {
        guard let type = type as? AnyClass, TypeRelation.isSubclass(type, of: superclass) else { return false }
      }
      let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      return conformers.allSatisfy { unsafe $0.witnessTable(of: metadata) != nil }
    case .casting(let metatype): return Self.isInstance(type, of: metatype)
    }
  }

  /// What a value holds of a class (its metadata) beside the reference; nil where it is made in another way (`any Error`),
  /// or asks for more than the class has.
  func shape(for metadata: UnsafeRawPointer) -> (isClassBound: Bool, witnesses: [UnsafeRawPointer])? {
    guard case .reading(let existential, let conformers) = parts.way, !existential.isSpecial else { return nil }
    let witnesses = unsafe conformers.compactMap { unsafe $0.witnessTable(of: metadata) }
    guard unsafe witnesses.count == conformers.count, unsafe witnesses.count == existential.witnessCount else {
      return nil
    }
    return unsafe (existential.isClassBound, witnesses)
  }

  /// Their descriptors, where they can be told.
  var protocols: [UnsafeRawPointer] {
    if case .reading(let existential, _) = parts.way { unsafe existential.protocols } else { unsafe [] }
  }

  /// Whether it names any.
  var hasProtocols: Bool {
    switch parts.way {
    case .reading(let existential, _): unsafe !existential.protocols.isEmpty
    case .casting: parts.type != Any.self && parts.type != AnyObject.self
    }
  }

  private static func isInstance<Metatype>(_ type: Any.Type, of metatype: Metatype.Type) -> Bool { type is Metatype }
}
