public import CBeansRuntime
import Synchronization

/// Reinterprets a value as another type that it is known to have: a class's value as an object, an object as its class,
/// a type as another one found to be the same. The caller must have verified that; only sizes are checked.
@inlinable @inline(__always)
func uncheckedCast<Value, Other>(_ value: Value, to type: Other.Type) -> Other { unsafe unsafeBitCast(value, to: type) }

/// The memory of an object's stored properties.
@usableFromInline
enum StoredMemory {
  /// Replaces the value of a property. The object must have a stored property of that type at that offset, which no
  /// other thread uses, and no code accesses at the moment.
  @inlinable @inline(__always)
  static func replace<Value>(at offset: Int, of object: AnyObject, by value: Value) {
    let property = unsafe (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Value.self)
    // The old value is destroyed last: code that its `deinit` calls may read the property.
    let old = unsafe property.move()
    unsafe property.initialize(to: value)
    withExtendedLifetime(old) {}
  }

  /// Returns the distance in bytes from the start of an object to a value, which need not be part of the object.
  @inlinable
  static func offset<Value>(of value: inout Value, in object: AnyObject) -> Int {
    unsafe withUnsafePointer(to: &value) {
      unsafe UnsafeRawPointer($0) - UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
  }
}

/// A reference to an object. Its holder retains and releases the object explicitly.
@usableFromInline
struct ObjectReference: Sendable, Equatable {
  @usableFromInline let address: UInt

  @inlinable @inline(__always)
  init(address: UInt) { self.address = address }

  /// Creates an owned reference. Consumes the object.
  @inlinable @inline(__always)
  init(_ object: consuming AnyObject) {
    address = unsafe UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
  }

  /// Creates an owned reference from a value of a class type. Consumes the value.
  @inlinable @inline(__always)
  init<Value>(instance value: consuming Value) { self.init(unsafe _unsafeReferenceCast(value, to: AnyObject.self)) }

  /// Creates a reference without retaining the object.
  @inline(__always)
  init(unretained object: AnyObject) { address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }

  @inlinable @inline(__always)
  var pointer: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped }

  /// The object, as a retained reference.
  var object: AnyObject { unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }

  /// Runs `body` with the object, which must not be released meanwhile.
  @inlinable @inline(__always)
  func with<R>(_ body: (AnyObject) throws -> R) rethrows -> R {
    try unsafe Unmanaged<AnyObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef { try body($0) }
  }

  /// The identity of the object's class.
  @inlinable @inline(__always)
  var identity: ObjectIdentifier { with { ObjectIdentifier(type(of: $0)) } }

  /// Whether no other strong reference to the object exists.
  @inline(__always)
  var isUnshared: Bool {
    var word = address
    return unsafe withUnsafeMutablePointer(to: &word) {
      // The word of an `AnyObject` is the address of its object. That word is neither copied nor destroyed.
      unsafe $0.withMemoryRebound(to: AnyObject.self, capacity: 1) { unsafe Self.isUnshared($0) }
    }
  }

  /// Generic, because a call with an `AnyObject` itself would open the existential by a copy, which is another
  /// reference.
  @inline(__always)
  private static func isUnshared<Object: AnyObject>(_ object: UnsafeMutablePointer<Object>) -> Bool {
    unsafe isKnownUniquelyReferenced(&object.pointee)
  }

  /// The identity of the bean: of the object, or of the object in its box; nil for other values.
  var beanIdentity: ObjectIdentifier? { with { ($0 as? Box).map(\.identity) ?? ObjectIdentifier($0) } }

  @inlinable @inline(__always)
  func retain() {
    _ = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).retain()
    // Without the fence, the optimizer moves the retain behind a store after which other threads may release the
    // object: an unlocked lock, a cleared note.
    beans_compiler_fence()
  }

  @inlinable @inline(__always)
  func release() { unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release() }

  /// Retains the object a number of times in one step.
  @inline(__always)
  func retain(_ count: UInt32) {
    #if BEANS_ORDINARY_REFERENCES
      for _ in 0..<count { retain() }
    #else
      if count == 1 { retain() } else { unsafe beans_retain_n(pointer, count) }
    #endif
  }

  /// Returns the object as a value of a class type or an optional of one. Consumes this reference.
  @inlinable @inline(__always)
  func take<Value>(as type: Value.Type) -> Value {
    unsafe unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(), to: Value.self)
  }

  /// Returns the object as a protocol type to which its class is known to conform. Consumes this reference.
  @usableFromInline
  func cast<Value>(to type: Value.Type) -> Value {
    // Startup has verified that the declared type conforms, and so does every subclass.
    take(as: AnyObject.self) as! Value
  }

  /// Returns the object as a value of a class type or an optional of one. Retains the object.
  @inlinable @inline(__always)
  func copy<Value>(as type: Value.Type) -> Value {
    unsafe unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(), to: Value.self)
  }
}

/// A reference that does not retain its object. The object has another owner, which must outlive the reference.
@usableFromInline
@safe struct Unretained<Object: AnyObject>: @unchecked Sendable {  // protected by `Object` itself, shared as it is
  // A reference and no integer: an optional reference takes one word.
  @usableFromInline let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = unsafe .passUnretained(object) }

  /// Creates a reference from an address; nil for 0.
  @inline(__always)
  init?(address: UInt) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    unsafe reference = unsafe .fromOpaque(pointer)
  }

  /// Creates a reference from an address that is known not to be 0.
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

  /// The object, as a retained reference.
  var object: Object { unsafe reference.takeUnretainedValue() }

  @inline(__always)
  func retain() {
    _ = unsafe reference.retain()
    // See `ObjectReference.retain()`.
    beans_compiler_fence()
  }

  @inline(__always)
  func release() { unsafe reference.release() }
}

/// The address of a value on a thread's stack. Valid only during the call of `with(_:_:)` that created it.
///
/// Since many threads may have the address, the value can only be read through it: its mutable parts are atomic.
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

  /// Creates a reference from an address; nil for 0.
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

/// The evaluated arguments of one call. Their objects live as long as the call.
@safe struct EvaluatedArguments {
  private let objects: UnsafeMutablePointer<UInt>

  /// Runs `body` with room for a number of arguments, on the stack.
  @inline(__always)
  static func with<R>(_ count: Int, _ body: (EvaluatedArguments) throws -> R) rethrows -> R {
    try unsafe withUnsafeTemporaryAllocation(of: UInt.self, capacity: max(count, 1)) { buffer in
      // Never nil: the buffer has at least one element.
      try unsafe body(EvaluatedArguments(objects: buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  var first: UnsafePointer<UInt> { unsafe UnsafePointer(objects) }

  /// The object at a position, as an owned reference; nil for an optional without a bean.
  subscript(index: Int) -> ObjectReference? {
    get { unsafe objects[index] == 0 ? nil : ObjectReference(address: objects[index]) }
    nonmutating set { unsafe (objects + index).initialize(to: newValue?.address ?? 0) }
  }

  /// Releases the first `count` objects.
  func release(_ count: Int) {
    for index in 0..<count { self[index]?.release() }
  }
}

#if !BEANS_ORDINARY_REFERENCES
  extension ObjectReference {
    /// Whether the runtime retains an object several times in one step. Checked at each startup.
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
