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
  @usableFromInline let access: Access
  /// Whether whoever resolved the argument holds a reference of its own for it, to be dropped after use.
  @usableFromInline let isOwned: Bool
  /// Of an existential. Held by the plan.
  @usableFromInline let form: Unmanaged<ExistentialForm>?

  @usableFromInline
  init(object: UnsafeRawPointer?, access: Access, isOwned: Bool, form: Unmanaged<ExistentialForm>? = nil) {
    self.object = object
    self.access = access
    self.isOwned = isOwned
    self.form = form
  }

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
    if access == .existential {
      // An existential has its object and its form.
      let object = object.unsafelyUnwrapped
      _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
      return form.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.value(object, as: type) }
    }
    return Argument.unbox(object, as: type)
  }

  @usableFromInline @inline(never)
  static func unbox<Value>(_ object: UnsafeRawPointer?, as type: Value.Type) -> Value {
    // A boxed argument always has its box; the type was settled by the plan.
    Unmanaged<ValueBox<Value>>.fromOpaque(object.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0.value }
  }

  func release() {
    if isOwned, let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}

/// The arguments of one factory call, read front to back.
@usableFromInline
struct Arguments {
  @usableFromInline var next: UnsafePointer<Argument>

  @usableFromInline init(_ first: UnsafePointer<Argument>) { next = first }

  @inlinable @inline(__always)
  mutating func take<Value>(as type: Value.Type) -> Value {
    let argument = next.pointee
    next += 1
    return argument.value(as: type)
  }
}
