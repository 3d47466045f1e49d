public import CBeansRuntime
public import Synchronization

// MARK: pointers

/// A type that consists of one pointer, and that an atomic can store: an optional one as well, whose nil is 0.
@usableFromInline
protocol PointerWrapper: AtomicOptionalRepresentable, BitwiseCopyable, Equatable
where
  AtomicRepresentation == UnsafeRawPointer.AtomicRepresentation,
  AtomicOptionalRepresentation == UnsafeRawPointer.AtomicOptionalRepresentation
{
  /// Wraps a pointer that `opaque` of a value of this type has returned.
  init(opaque: UnsafeRawPointer)
  var opaque: UnsafeRawPointer { get }
}

extension PointerWrapper {
  @inlinable @inline(__always)
  static func == (left: Self, right: Self) -> Bool { unsafe left.opaque == right.opaque }

  @inlinable @inline(__always)
  static func encodeAtomicRepresentation(_ value: consuming Self) -> AtomicRepresentation {
    unsafe UnsafeRawPointer.encodeAtomicRepresentation(value.opaque)
  }

  @inlinable @inline(__always)
  static func decodeAtomicRepresentation(_ representation: consuming AtomicRepresentation) -> Self {
    // Never nil: the atomic contains a value of this type.
    unsafe Self(opaque: UnsafeRawPointer.decodeAtomicOptionalRepresentation(representation).unsafelyUnwrapped)
  }

  @inlinable @inline(__always)
  static func encodeAtomicOptionalRepresentation(_ value: consuming Self?) -> AtomicOptionalRepresentation {
    unsafe UnsafeRawPointer.encodeAtomicOptionalRepresentation(value?.opaque)
  }

  @inlinable @inline(__always)
  static func decodeAtomicOptionalRepresentation(_ representation: consuming AtomicOptionalRepresentation) -> Self? {
    unsafe UnsafeRawPointer.decodeAtomicOptionalRepresentation(representation).map { unsafe Self(opaque: $0) }
  }
}

extension Optional where Wrapped: PointerWrapper {
  /// The pointer, where the caller knows that there is one. Checked in debug builds only.
  @inlinable @inline(__always)
  var known: Wrapped { unsafe unsafelyUnwrapped }
}

// MARK: objects

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
    unsafe withUnsafeMutablePointer(to: &value) {
      unsafe UnsafeRawPointer($0) - UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
  }
}

/// A reference to an object of any class. Its holder retains and releases the object explicitly.
@usableFromInline
@safe struct ObjectReference: @unchecked Sendable {  // the object's own contract decides which threads may use it
  @usableFromInline let pointer: UnsafeMutableRawPointer

  /// Creates an owned reference. Consumes the object.
  @inlinable @inline(__always)
  init(_ object: consuming AnyObject) { unsafe pointer = unsafe Unmanaged.passRetained(object).toOpaque() }

  /// Creates an owned reference from a value of a class type. Consumes the value.
  @inlinable @inline(__always)
  init<Value>(instance value: consuming Value) { self.init(unsafe _unsafeReferenceCast(value, to: AnyObject.self)) }

  /// Creates a reference without retaining the object.
  @inline(__always)
  init(unretained object: AnyObject) { unsafe pointer = unsafe Unmanaged.passUnretained(object).toOpaque() }

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
    var pointer = unsafe pointer
    return unsafe withUnsafeMutablePointer(to: &pointer) {
      // An `AnyObject` is the pointer to its object. That pointer is neither copied nor destroyed.
      unsafe $0.withMemoryRebound(to: AnyObject.self, capacity: 1) { unsafe Self.isUnshared($0) }
    }
  }

  /// Generic, because a call with an `AnyObject` itself would open the existential by a copy, which is another
  /// reference.
  @inline(__always)
  private static func isUnshared<Object: AnyObject>(_ object: UnsafeMutablePointer<Object>) -> Bool {
    unsafe isKnownUniquelyReferenced(&object.pointee)
  }

  /// The type of the bean: the class of the object, or the type of the value in its box.
  var beanType: ObjectIdentifier { with { ObjectIdentifier(($0 as? Box)?.valueType ?? type(of: $0)) } }

  /// The identity of the bean: of the object, or of the object in its box; nil for other values.
  var beanIdentity: ObjectIdentifier? { with { ($0 as? Box).map(\.identity) ?? ObjectIdentifier($0) } }

  @inlinable @inline(__always)
  func retain() {
    _ = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).retain()
    // Without the fence, the optimizer moves the retain behind a store after which other threads may release the
    // object: an unlocked lock, a cleared note.
    beans_compiler_fence()
  }

  /// Another owned reference to the object.
  @inlinable @inline(__always)
  var copy: ObjectReference {
    retain()
    return self
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

extension ObjectReference: PointerWrapper {
  @inlinable @inline(__always)
  init(opaque: UnsafeRawPointer) { unsafe pointer = unsafe UnsafeMutableRawPointer(mutating: opaque) }

  @inlinable @inline(__always)
  var opaque: UnsafeRawPointer { unsafe UnsafeRawPointer(pointer) }
}

/// A reference that does not retain its object. The object has another owner, which must outlive the reference.
@usableFromInline
@safe struct Unretained<Object: AnyObject> {
  @usableFromInline let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = unsafe .passUnretained(object) }

  /// Creates a reference from one to an object that is known to be an `Object`.
  @inlinable @inline(__always)
  init(_ object: ObjectReference) { unsafe reference = unsafe .fromOpaque(object.pointer) }

  /// The reference, without the object's class.
  @inline(__always)
  var erased: ObjectReference { unsafe ObjectReference(opaque: opaque) }

  @inline(__always)
  var identifier: ObjectIdentifier { with { ObjectIdentifier($0) } }

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

extension Unretained: Sendable where Object: Sendable {}

extension Unretained: PointerWrapper {
  @inlinable @inline(__always)
  init(opaque: UnsafeRawPointer) { unsafe reference = unsafe .fromOpaque(opaque) }

  @inlinable @inline(__always)
  var opaque: UnsafeRawPointer { unsafe UnsafeRawPointer(reference.toOpaque()) }
}

/// The link from a member of a list to the one before it, in one word:
///
///     0                       the object is in no list
///     2 · number + 1          the first member of the list with that number
///     address of an object    the member before this one; even
///
/// Beside the content of a slot the only number that stands for an address: an atomic has one word for the three cases.
struct BackLink: RawRepresentable, AtomicRepresentable, Equatable, Sendable, BitwiseCopyable {
  let rawValue: UInt

  static var none: BackLink { BackLink(rawValue: 0) }

  @inline(__always)
  static func first(ofList number: Int) -> BackLink { BackLink(rawValue: UInt(bitPattern: number) << 1 | 1) }

  @inline(__always)
  static func after(_ member: ObjectReference) -> BackLink {
    BackLink(rawValue: UInt(bitPattern: unsafe member.opaque))
  }

  /// The number of the list, for its first member.
  @inline(__always)
  var list: Int? { if rawValue & 1 == 1 { Int(bitPattern: rawValue >> 1) } else { nil } }

  /// The member before this one, which must be neither the first nor outside of lists.
  @inline(__always)
  var member: ObjectReference {
    unsafe ObjectReference(opaque: UnsafeRawPointer(bitPattern: rawValue).unsafelyUnwrapped)
  }
}

// MARK: the stack

/// The reference that each thread keeps for itself: to the innermost value that `StackReference.with` has put on its
/// stack for that purpose.
enum ThreadReference {
  @inline(__always)
  static var innermost: StackReference<Void>? {
    get { unsafe beans_resolution().map { unsafe StackReference(opaque: $0) } }
    set { unsafe beans_set_resolution(newValue?.opaque) }
  }
}

/// The evaluated arguments of one call. Their objects live as long as the call.
@safe struct EvaluatedArguments {
  private let objects: UnsafeMutablePointer<ObjectReference?>
  private let count: Int

  /// Runs `body` with room for a number of arguments, on the stack; each is nil at first.
  @inline(__always)
  static func with<R>(_ count: Int, _ body: (EvaluatedArguments) throws -> R) rethrows -> R {
    try unsafe withUnsafeTemporaryAllocation(of: ObjectReference?.self, capacity: max(count, 1)) { buffer in
      unsafe buffer.initialize(repeating: nil)
      // Never nil: the buffer has at least one element.
      return try unsafe body(EvaluatedArguments(objects: buffer.baseAddress.unsafelyUnwrapped, count: count))
    }
  }

  var first: FrozenReference<ObjectReference?> { unsafe FrozenReference(UnsafePointer(objects)) }

  /// Stores an owned reference at a position; nil for an optional without a bean.
  func set(_ object: ObjectReference?, at index: Int) { unsafe objects[index] = object }

  /// Releases all objects.
  func release() {
    for index in 0..<count { unsafe objects[index]?.release() }
  }
}

/// The memory of a tuple on the stack, which is filled element by element, and then moved out.
///
/// The elements of a tuple lie one after the other, each at the next multiple of its alignment.
@usableFromInline
@safe struct TupleMemory {
  @usableFromInline var next: UnsafeMutableRawPointer

  /// Returns the tuple after `fill` has stored each of its elements.
  @inlinable @inline(__always)
  static func tuple<Tuple>(of type: Tuple.Type, fill: (inout TupleMemory) -> Void) -> Tuple {
    unsafe withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { buffer in
      // Never nil: the buffer has one element.
      let tuple = unsafe buffer.baseAddress.unsafelyUnwrapped
      var memory = unsafe TupleMemory(next: UnsafeMutableRawPointer(tuple))
      fill(&memory)
      return unsafe tuple.move()
    }
  }

  @inlinable @inline(__always)
  init(next: UnsafeMutableRawPointer) { unsafe self.next = unsafe next }

  /// Stores the next element. A reference to an object is an element of its class, or of an optional of that: it must be
  /// an owned one.
  @inlinable @inline(__always)
  mutating func append<Value>(_ value: consuming Value) {
    let place = unsafe next.alignedUp(for: Value.self)
    unsafe place.initializeMemory(as: Value.self, to: value)
    unsafe next = unsafe place + MemoryLayout<Value>.size
  }

  /// Leaves bytes of an element out.
  @inlinable @inline(__always)
  mutating func skip(_ bytes: Int) { unsafe next += bytes }
}

#if !BEANS_ORDINARY_REFERENCES
  extension ObjectReference {
    /// Whether the runtime retains an object several times in one step. Checked at each startup.
    static var addsCounts: Bool {
      let reference = ObjectReference(Box())
      defer { reference.release() }
      let wasUnshared = reference.isUnshared
      unsafe beans_retain_n(reference.pointer, 3)
      for _ in 0..<3 {
        if reference.isUnshared { return false }
        reference.release()
      }
      return wasUnshared && reference.isUnshared
    }
  }
#endif
