import BeansReflection
@_spi(BeansPackage) import BeansSupport

/// How an instance of one class becomes a value of one protocol type: what stands beside the reference in it.
///
/// A cast would find that out anew for every argument and every lookup. The layout of existentials (three words for the
/// value, or one where only classes are allowed, then the class unless it is in the object, then a witness table for each
/// protocol) is tried out when the process first makes one; where it is otherwise, there is no layout, and values are cast.
@usableFromInline
final class ExistentialLayout: Sendable {
  /// The class whose instances have it; those of subclasses have another one.
  @usableFromInline let identity: UInt
  /// In bytes: where `words` go.
  @usableFromInline let offset: Int
  @usableFromInline let count: Int
  /// The address of the first word; none is written after `init`.
  @usableFromInline let first: UInt

  /// The layout of a protocol type's values that are instances of a class; it stays as long as the process. nil where
  /// `type` is no protocol type that is made like this, or the class does not conform.
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

  /// By class, then by protocol type.
  private static let known = Locked<[ObjectIdentifier: [ObjectIdentifier: ExistentialLayout]]>([:])

  private init?(unchecked type: Any.Type, for identity: ObjectIdentifier) {
    let metadata = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: identity))
    guard let metadata = unsafe metadata, let shape = unsafe TypeRelation.shape(of: type, for: metadata) else {
      return nil
    }
    self.identity = UInt(bitPattern: identity)
    let content = unsafe (shape.isClassBound ? [] : [metadata]) + shape.witnesses
    offset = unsafe (shape.isClassBound ? 1 : 3) * MemoryLayout<UnsafeRawPointer>.size
    count = unsafe content.count
    let words = UnsafeMutablePointer<UnsafeRawPointer>.allocate(capacity: max(count, 1))
    first = UInt(bitPattern: words)
    for index in unsafe content.indices { unsafe (words + index).initialize(to: content[index]) }
  }

  deinit { unsafe words.deallocate() }

  @inlinable @inline(__always)
  var words: UnsafePointer<UnsafeRawPointer> { unsafe UnsafePointer(bitPattern: first).unsafelyUnwrapped }

  @inlinable @inline(__always)
  func fits(_ object: ObjectReference) -> Bool { object.identity == identity }

  /// The value of an object of that class, taking over its count.
  @inlinable @inline(__always)
  func value<Value>(_ object: ObjectReference, as type: Value.Type) -> Value {
    if unsafe MemoryLayout<Value>.size == 2 * MemoryLayout<UnsafeRawPointer>.size {
      // One protocol, for classes only.
      return unsafe unsafeBitCast((object.take(as: AnyObject.self), words.pointee), to: Value.self)
    }
    return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
      // One element was asked for.
      let value = unsafe buffer.baseAddress.unsafelyUnwrapped
      let raw = UnsafeMutableRawPointer(value)
      unsafe raw.storeBytes(of: object.address, as: UInt.self)
      for index in 0..<count {
        unsafe raw.storeBytes(
          of: words[index], toByteOffset: offset + index * MemoryLayout<UnsafeRawPointer>.size,
          as: UnsafeRawPointer.self)
      }
      return unsafe value.move()
    }
  }

  // MARK: the trial

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
