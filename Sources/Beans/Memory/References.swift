public import CBeansRuntime
import Synchronization

/// A value that is known to be of another type as well: a class's value as an object, an object as its class, a type that
/// has been found to be the other one. Whoever calls it has made sure of that; only sizes are checked.
@inlinable @inline(__always)
func uncheckedCast<Value, Other>(_ value: Value, to type: Other.Type) -> Other { unsafe unsafeBitCast(value, to: type) }

/// A reference to an object whose count its holder keeps.
@usableFromInline
struct ObjectReference: Sendable, Equatable {
  @usableFromInline let address: UInt

  @inlinable @inline(__always)
  init(address: UInt) { self.address = address }

  /// Takes over one count.
  @inlinable @inline(__always)
  init(_ object: consuming AnyObject) {
    address = unsafe UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
  }

  /// The address alone.
  @inline(__always)
  init(unretained object: AnyObject) { address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }

  @inlinable @inline(__always)
  var pointer: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped }

  /// The object, with a count of its own.
  var object: AnyObject { unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }

  /// Runs `body` with the object, which nobody releases meanwhile.
  @inlinable @inline(__always)
  func with<R>(_ body: (AnyObject) throws -> R) rethrows -> R {
    try unsafe Unmanaged<AnyObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef { try body($0) }
  }

  /// The class of the object.
  @inlinable @inline(__always)
  var identity: UInt { with { UInt(bitPattern: ObjectIdentifier(type(of: $0))) } }

  /// Whether no other strong reference to the object exists.
  @inline(__always)
  var isUnshared: Bool {
    var word = address
    return unsafe withUnsafeMutablePointer(to: &word) {
      // An `AnyObject` is the address of its object. It is neither copied nor destroyed.
      unsafe $0.withMemoryRebound(to: AnyObject.self, capacity: 1) { unsafe Self.isUnshared($0) }
    }
  }

  /// Generic, because a call with an `AnyObject` itself would open it, by a copy that is another reference.
  @inline(__always)
  private static func isUnshared<Object: AnyObject>(_ object: UnsafeMutablePointer<Object>) -> Bool {
    unsafe isKnownUniquelyReferenced(&object.pointee)
  }

  /// The identity of the bean: of the object, or of the object in its box; nil for other values.
  var beanIdentity: ObjectIdentifier? { with { ($0 as? Box).map(\.identity) ?? ObjectIdentifier($0) } }

  @inlinable @inline(__always)
  func retain() {
    _ = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).retain()
    // The optimizer would count later than a store by which others may release the object: an unlocked lock, a note that
    // is crossed out.
    beans_compiler_fence()
  }

  @inlinable @inline(__always)
  func release() { unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release() }

  /// Adds so many counts in one step.
  @inline(__always)
  func retain(_ count: UInt32) {
    #if BEANS_ORDINARY_REFERENCES
      for _ in 0..<count { retain() }
    #else
      if count == 1 { retain() } else { unsafe beans_retain_n(pointer, count) }
    #endif
  }

  /// The object as the value of a class type, or an optional one, with the count of this reference.
  @inlinable @inline(__always)
  func take<Value>(as type: Value.Type) -> Value {
    unsafe unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(), to: Value.self)
  }

  /// The object as a protocol type that its class is known to have, with the count of this reference.
  @usableFromInline
  func cast<Value>(to type: Value.Type) -> Value {
    // Startup has found that the declared type conforms, and so does every subclass.
    take(as: AnyObject.self) as! Value
  }

  /// The object as the value of a class type, or an optional one, with a new count.
  @inlinable @inline(__always)
  func copy<Value>(as type: Value.Type) -> Value {
    unsafe unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(), to: Value.self)
  }
}

/// A reference that is not counted, to an object that somebody else keeps.
@usableFromInline
@safe struct Unretained<Object: AnyObject>: @unchecked Sendable {  // as `Object`, which is shared as it is
  // No address: an optional one is one word.
  @usableFromInline let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = unsafe .passUnretained(object) }

  /// nil for 0.
  @inline(__always)
  init?(address: UInt) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    unsafe reference = unsafe .fromOpaque(pointer)
  }

  /// For an address that is known to be one.
  @inline(__always)
  init(known address: UInt) {
    unsafe reference = unsafe .fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
  }

  @inline(__always)
  var address: UInt { unsafe UInt(bitPattern: reference.toOpaque()) }

  @inline(__always)
  static func == (left: Unretained, right: Unretained) -> Bool { left.address == right.address }

  @inlinable @inline(__always)
  func with<R>(_ body: (Object) throws -> R) rethrows -> R {
    try unsafe reference._withUnsafeGuaranteedRef { try body($0) }
  }

  /// The object, counted.
  var object: Object { unsafe reference.takeUnretainedValue() }

  @inline(__always)
  func retain() {
    _ = unsafe reference.retain()
    // As in `ObjectReference.retain`.
    beans_compiler_fence()
  }

  @inline(__always)
  func release() { unsafe reference.release() }
}

/// The address of something that stands on a thread's stack for as long as it is used.
///
/// Its value can be read and no more, since many threads may have it: what changes in it is atomic.
struct StackReference<Value: ~Copyable>: Sendable {
  let address: UInt

  /// Runs `body` with the address of a value.
  @inline(__always)
  static func with<R: ~Copyable>(
    _ value: inout Value, _ body: (StackReference) throws -> R
  ) rethrows -> R {
    try unsafe withUnsafeMutablePointer(to: &value) { try body(StackReference(known: UInt(bitPattern: $0))) }
  }

  private init(known address: UInt) { self.address = address }

  /// nil for 0.
  @inline(__always)
  init?(address: UInt) {
    if address == 0 { return nil }
    self.address = address
  }

  @inline(__always)
  var value: Value {
    unsafeAddress { unsafe UnsafePointer(bitPattern: address).unsafelyUnwrapped }
  }
}

/// Objects that live as long as one call: arguments that had to be evaluated.
@safe struct EvaluatedArguments {
  private let objects: UnsafeMutablePointer<UInt>

  /// Room for so many, on the stack.
  @inline(__always)
  static func with<R>(_ count: Int, _ body: (EvaluatedArguments) throws -> R) rethrows -> R {
    try unsafe withUnsafeTemporaryAllocation(of: UInt.self, capacity: max(count, 1)) { buffer in
      // One element at least was asked for.
      try unsafe body(EvaluatedArguments(objects: buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  var first: UnsafePointer<UInt> { unsafe UnsafePointer(objects) }

  /// The object of a position, with its count; nil for an optional without a bean.
  subscript(index: Int) -> ObjectReference? {
    get { unsafe objects[index] == 0 ? nil : ObjectReference(address: objects[index]) }
    nonmutating set { unsafe (objects + index).initialize(to: newValue?.address ?? 0) }
  }

  /// Gives back the first ones.
  func release(_ count: Int) {
    for index in 0..<count { self[index]?.release() }
  }
}

#if !BEANS_ORDINARY_REFERENCES
  extension ObjectReference {
    /// Whether the runtime adds so many counts in one step; asked at each startup.
    static var addsCounts: Bool {
      let reference = ObjectReference(Probe())
      defer { reference.release() }
      let wasUnshared = reference.isUnshared
      unsafe beans_retain_n(reference.pointer, 3)
      for _ in 0..<3 {
        if reference.isUnshared { return false }
        reference.release()
      }
      return wasUnshared && reference.isUnshared
    }

    private final class Probe {}
  }
#endif
