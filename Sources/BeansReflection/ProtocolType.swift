@_spi(BeansPackage) import BeansErrors
import CBeansRuntime

/// A parsed protocol type, or composition, for checks of many types.
///
/// Contains the conformances of the images that were loaded at creation: for one loop, not for storage.
package struct ProtocolType: Sendable {
  private enum Way: Sendable {
    case reading(ExistentialMetadata, [Conformers])
    /// A cast to the type `any P.Type`; the runtime is slow at the first cast of a type.
    case casting(Any.Type)
  }

  /// The parts in one object, so that a protocol type is passed on as one reference.
  private final class Parts: Sendable {
    let type: Any.Type
    let way: Way

    init(_ type: Any.Type, _ way: Way) {
      self.type = type
      self.way = way
    }
  }

  private let parts: Parts

  /// The protocol types that were looked up, and the number of images whose conformances they contain.
  private static let known = Locked<(images: Int, types: [Address: ProtocolType])>((0, [:]))

  /// Creates a protocol type; nil for other types, and for constrained ones (`any P<Int>`), which match a bean only if
  /// it is declared as exactly that type.
  ///
  /// Costs a lock and a probe; if images have been loaded since the last call, also a scan of all conformances of the
  /// process.
  package init?(_ type: Any.Type) {
    let made = RuntimeLayout.hasConformances ? Self.reading(type) : ProtocolType(casting: type)
    guard let made else { return nil }
    self = made
  }

  private init(_ parts: Parts) { self.parts = parts }

  /// Creates a protocol type that relies on no layout.
  init?(casting type: Any.Type) {
    guard MetadataKind.of(type) == MetadataKind.existential,
      let metatype = unsafe swift_getExistentialMetatypeMetadata(unsafeBitCast(type, to: UnsafeRawPointer.self))
    else { return nil }
    parts = unsafe Parts(type, .casting(unsafeBitCast(metatype, to: Any.Type.self)))
  }

  /// Returns the protocol type with its metadata and conformers, cached after the first call; nil for other types.
  private static func reading(_ type: Any.Type) -> ProtocolType? {
    guard MetadataKind.of(type) == MetadataKind.existential else { return nil }
    return known.withLock { known in
      let images = LoadedImages.count
      if known.images != images { known = (images, [:]) }
      let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      let key = unsafe Address(metadata)
      if let found = known.types[key] { return found }
      let existential = unsafe ExistentialMetadata(metadata)
      let conformers = unsafe ConformanceTable.conformers(of: existential.protocols.map { unsafe Address($0) })
      let made = ProtocolType(Parts(type, .reading(existential, conformers.compactMap { $0 })))
      known.types[key] = made
      return made
    }
  }

  /// Returns whether every instance of `type` has this type. Costs a probe for each protocol and superclass.
  package func isMet(by type: Any.Type) -> Bool {
    if type == parts.type { return true }
    switch parts.way {
    case .reading(let existential, let conformers):
      if existential.isClassBound && !(type is AnyObject.Type) { return false }
      if let superclass = existential.superclass {
        guard let type = type as? AnyClass, ClassHierarchy.isSubclass(type, of: superclass) else { return false }
      }
      let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      return conformers.allSatisfy { unsafe $0.witnessTable(of: metadata) != nil }
    case .casting(let metatype): return Self.isInstance(type, of: metatype)
    }
  }

  /// The descriptors of all types that declare a conformance to one of the protocols: the one with the fewest. Nil if no
  /// protocol limits the types, or if a conforming type is unknown.
  var rarestConformers: Dictionary<Address, Conformance>.Keys? {
    guard case .reading(_, let conformers) = parts.way else { return nil }
    return conformers.compactMap(\.types).min { $0.count < $1.count }
  }

  /// Returns the layout of a value of this type with an instance of a class (its metadata), besides the reference. Nil
  /// for other layouts (`any Error`), and if the class does not conform.
  func shape(for metadata: UnsafeRawPointer) -> (isClassBound: Bool, witnesses: [UnsafeRawPointer])? {
    guard case .reading(let existential, let conformers) = parts.way, !existential.isSpecial else { return nil }
    let witnesses = unsafe conformers.compactMap { unsafe $0.witnessTable(of: metadata) }
    guard unsafe witnesses.count == conformers.count, unsafe witnesses.count == existential.witnessCount else {
      return nil
    }
    return unsafe (existential.isClassBound, witnesses)
  }

  /// The descriptors of the protocols, if they are known.
  var protocols: [UnsafeRawPointer] {
    if case .reading(let existential, _) = parts.way { unsafe existential.protocols } else { unsafe [] }
  }

  /// Whether the type names at least one protocol.
  var hasProtocols: Bool {
    switch parts.way {
    case .reading(let existential, _): unsafe !existential.protocols.isEmpty
    case .casting: parts.type != Any.self && parts.type != AnyObject.self
    }
  }

  private static func isInstance<Metatype>(_ type: Any.Type, of metatype: Metatype.Type) -> Bool { type is Metatype }
}
