/// One resolved dependency on its way into a factory or property: an object, and how the wanted type is read from it.
@usableFromInline
struct Argument {
  @usableFromInline enum Access: UInt8 {
    /// The wanted type is a class (or an optional of one): the object is the value.
    case reference
    /// The object is a `ValueBox` of exactly the wanted type.
    case boxed
    /// The wanted type is a protocol type, the object a class instance; see `form`.
    case existential
  }

  /// Not retained by the argument where the environment holds the object; see `isOwned`.
  @usableFromInline let object: UnsafeRawPointer?
  /// Two words pass through registers, so the rest is one:
  ///
  ///     0 reference    2 boxed    5 unknown    else the form of an existential    + 1 if owned
  @usableFromInline let rest: UInt

  @inlinable @inline(__always)
  init(object: UnsafeRawPointer?, rest: UInt) {
    self.object = object
    self.rest = rest
  }

  @inlinable @inline(__always)
  init(object: UnsafeRawPointer?, access: Access, isOwned: Bool, form: Unmanaged<ExistentialForm>? = nil) {
    self.init(object: object, rest: Self.rest(access, form) | (isOwned ? 1 : 0))
  }

  /// Of an argument that is not owned.
  @inlinable @inline(__always)
  static func rest(_ access: Access, _ form: Unmanaged<ExistentialForm>? = nil) -> UInt {
    switch access {
    case .reference: 0
    case .boxed: 2
    case .existential: form.map { UInt(bitPattern: $0.toOpaque()) } ?? 2
    }
  }

  @inlinable @inline(__always)
  var access: Access {
    switch rest & ~1 {
    case 0: .reference
    case 2: .boxed
    default: .existential
    }
  }

  /// Whether whoever resolved the argument holds a reference of its own for it, to be dropped after use.
  @inlinable @inline(__always)
  var isOwned: Bool { rest & 1 != 0 }

  /// Of an existential. Held by the plan.
  @inlinable @inline(__always)
  var form: Unmanaged<ExistentialForm>? {
    let pointer = rest & ~1
    return pointer > 4 ? UnsafeRawPointer(bitPattern: pointer).map { .fromOpaque($0) } : nil
  }

  /// No argument at all: what a lookup that nobody has made before is answered with.
  static var unknown: Argument { Argument(object: nil, rest: 5) }

  @inlinable @inline(__always)
  var isKnown: Bool { rest != 5 }

  /// Whether the object is the value, held by somebody else,
  @inlinable @inline(__always)
  var isBorrowedReference: Bool { rest == 0 }

  /// or by the argument. There is an object then.
  @inlinable @inline(__always)
  var isOwnedReference: Bool { rest == 1 }

  /// An argument that keeps `object` alive until `release()`.
  init(owning object: AnyObject, access: Access) {
    self.init(object: UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque()), access: access, isOwned: true)
  }

  /// An argument whose object somebody else keeps alive for as long as it is used.
  init(borrowing object: AnyObject, access: Access) {
    self.init(object: UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()), access: access, isOwned: false)
  }

  /// The value as the wanted type. The plan has settled at startup that the object is one, so nothing is checked here.
  @inlinable @inline(__always)
  func value<Value>(as type: Value.Type) -> Value {
    if access == .reference, MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer?>.size {
      // A class reference and an optional one share this representation; copying it retains.
      return unsafeBitCast(object, to: Value.self)
    }
    if let form {
      // An existential has its object.
      let object = object.unsafelyUnwrapped
      _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
      return form._withUnsafeGuaranteedRef { $0.value(object, as: type) }
    }
    return Argument.unbox(object, as: type)
  }

  @usableFromInline @inline(never)
  static func unbox<Value>(_ object: UnsafeRawPointer?, as type: Value.Type) -> Value {
    // A boxed argument always has its box; the type was settled by the plan.
    Unmanaged<ValueBox<Value>>.fromOpaque(object.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0.value }
  }

  @inlinable
  func release() {
    if isOwned, let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}
