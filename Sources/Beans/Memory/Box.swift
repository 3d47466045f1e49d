@_spi(BeansPackage) import BeansSupport

/// The content of a slot whose bean is not a class instance.
@usableFromInline
class Box {
  @usableFromInline init() {}

  /// The value inside the box.
  var any: Any { fatalError("abstract: every box is a ValueBox") }

  /// Returns the bean itself: the object, or the value in its box.
  static func open(_ object: AnyObject) -> Any { (object as? Box)?.any ?? object }

  /// The identity of the object inside an existential value; nil for every other value.
  var identity: ObjectIdentifier? {
    let value = any
    return type(of: value) is AnyObject.Type ? ObjectIdentifier(value as AnyObject) : nil
  }

  /// Reads an object as a type that startup has determined. Returns nil only if the bean's type is an existential and
  /// the instance turned out to have another type.
  @usableFromInline
  static func read<Value>(_ object: AnyObject, as type: Value.Type) -> Value? {
    if type is AnyObject.Type, !(object is Box) { return uncheckedCast(object, to: Value.self) }
    if let box = object as? ValueBox<Value> { return box.value }
    return open(object) as? Value
  }
}

/// A boxed value of a known type.
@usableFromInline
final class ValueBox<Value>: Box {
  @usableFromInline let value: Value

  @inlinable init(_ value: Value) {
    self.value = value
    super.init()
  }

  override var any: Any { value }
}

/// A value that is not `Sendable`, and that a mutex protects or protected until the value was taken out.
///
/// Sendable because one thread at a time uses the value: one thread writes declarations before startup and the starting
/// thread reads them. For an instance that a user supplies, its own contract decides which threads may use it.
struct Carried<Value>: @unchecked Sendable { var value: Value }

/// Holds an instance that a user supplied, until its environment has released it.
final class InstanceHolder: Sendable {
  private let state: Locked<Carried<AnyObject?>>

  init(_ instance: AnyObject) { state = Locked(Carried(value: instance)) }

  var instance: AnyObject? { state.withLock { $0 }.value }

  func letGo() {
    // The reference is dropped after unlocking, because the instance's `deinit` is users' code.
    _ = state.withLock { state in
      defer { state.value = nil }
      return state
    }
  }
}
