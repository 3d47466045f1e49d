@_spi(BeansPackage) import BeansErrors
import BeansReflection

/// The memory layout of a protocol type's value for instances of one class: the words beside the reference.
///
/// With a layout, arguments and lookups need no cast, which would search for the conformance each time. The expected
/// layout of existentials is three words for the value, or one if only classes are allowed, then the class unless the
/// object contains it, then a witness table for each protocol. It is verified when the process first makes one. If it
/// differs, `of(_:for:)` returns no layout, and values are cast.
@usableFromInline
final class ExistentialLayout: Sendable {
  /// The class whose instances have the layout; instances of subclasses have another one.
  @usableFromInline let identity: ObjectIdentifier
  /// The offset of `words` in a value, in bytes.
  @usableFromInline let offset: Int
  @usableFromInline let count: Int
  /// The words: addresses of constants of the program.
  @usableFromInline let words: FrozenReference<FrozenReference<Void>>
  private let storage: FrozenArray<FrozenReference<Void>>
  /// The protocol type.
  private let type: Any.Type

  /// Returns the layout of a protocol type's values for instances of a class, which lives as long as the process.
  /// Returns nil if `type` is no protocol type with such a layout, or if the class does not conform.
  static func of(_ type: Any.Type, for identity: ObjectIdentifier) -> ExistentialLayout? {
    let key = ObjectIdentifier(type)
    if let layout = known.withLock({ $0[identity]?[key] }) { return layout }
    guard isAsExpected, let made = ExistentialLayout(unchecked: type, for: identity) else { return nil }
    return known.withLock { known in
      if let layout = known[identity]?[key] { return layout }
      known[identity, default: [:]][key] = made
      return made
    }
  }

  /// The layouts by class, then by protocol type.
  private static let known = Locked<[ObjectIdentifier: [ObjectIdentifier: ExistentialLayout]]>([:])

  private init?(unchecked type: Any.Type, for identity: ObjectIdentifier) {
    let metadata = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: identity))
    guard let metadata = unsafe metadata, let shape = unsafe TypeRelation.shape(of: type, for: metadata) else {
      return nil
    }
    (self.identity, self.type) = (identity, type)
    let content = unsafe (shape.isClassBound ? [] : [metadata]) + shape.witnesses
    offset = unsafe (shape.isClassBound ? 1 : 3) * MemoryLayout<UnsafeRawPointer>.size
    storage = unsafe FrozenArray(content.map { unsafe FrozenReference(opaque: $0) })
    count = storage.count
    words = storage.reference(0)
  }

  @inlinable @inline(__always)
  func fits(_ object: ObjectReference) -> Bool { object.identity == identity }

  /// Returns the value of an object of that class. Consumes the reference to the object.
  @inlinable @inline(__always)
  func value<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if unsafe MemoryLayout<Value>.size == 2 * MemoryLayout<UnsafeRawPointer>.size {
      // The value of one protocol that only classes can have.
      return unsafe unsafeBitCast((object.take(as: AnyObject.self), words.pointer.pointee), to: Value.self)
    }
    return TupleMemory.tuple(of: type) { append(object, to: &$0) }
  }

  /// Stores the value of an object of that class as the next element of a tuple. Consumes the reference to the object.
  @inlinable @inline(__always)
  func append(_ object: ObjectReference, to memory: inout TupleMemory) {
    memory.append(object)
    memory.skip(offset - MemoryLayout<ObjectReference>.size)
    for index in 0..<count { memory.append(unsafe words.pointer[index]) }
  }

  /// Stores the value of an object of that class, or of a subclass, as the next element of a tuple. Consumes the reference
  /// to the object.
  func store(_ object: ObjectReference, in memory: inout TupleMemory) {
    func cast<Value>(to type: Value.Type, in memory: inout TupleMemory) { memory.append(object.cast(to: type)) }
    if fits(object) { append(object, to: &memory) } else { cast(to: self.type, in: &memory) }
  }

  // MARK: verification

  private static let isAsExpected: Bool = {
    let probe = Probe()
    let identity = ObjectIdentifier(Probe.self)
    guard let bound = ExistentialLayout(unchecked: (any BoundProbing).self, for: identity),
      let open = ExistentialLayout(unchecked: (any CustomStringConvertible).self, for: identity),
      let both = ExistentialLayout(unchecked: (any CustomStringConvertible & BoundProbing).self, for: identity)
    else { return false }
    let first: any BoundProbing = bound.value(ObjectReference(probe), as: (any BoundProbing).self)
    let second: any CustomStringConvertible = open.value(ObjectReference(probe), as: (any CustomStringConvertible).self)
    let third = both.value(ObjectReference(probe), as: (any CustomStringConvertible & BoundProbing).self)
    return first === probe && first.bound == 1 && second.description == "2" && second as? Probe === probe
      && third === probe && third.bound == 1 && third.description == "2"
  }()
}

private protocol BoundProbing: AnyObject { var bound: Int { get } }
private final class Probe: BoundProbing, CustomStringConvertible {
  var bound: Int { 1 }
  var description: String { "2" }
}
