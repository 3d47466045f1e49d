@_spi(BeansPackage) import BeansSupport

/// What a slot holds for a bean that is not a class instance.
@usableFromInline
class Box {
  @usableFromInline init() {}

  /// The value inside.
  var any: Any { fatalError("abstract: every box is a ValueBox") }

  /// The bean itself: the object, or the value in its box.
  static func open(_ object: AnyObject) -> Any { (object as? Box)?.any ?? object }

  /// The identity of the object that a value is an existential of; nil for every other value.
  var identity: ObjectIdentifier? {
    let value = any
    return type(of: value) is AnyObject.Type ? ObjectIdentifier(value as AnyObject) : nil
  }

  /// What a slot holds as a type that startup has found it to have; nil only where a bean's type is an existential and
  /// the instance turned out to be something else.
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

/// What stands under a mutex, or is taken out from under it, and is not `Sendable`.
///
/// Sendable because one thread at a time uses it: declarations are written by one thread before startup and read by the one
/// that starts; what users hand in says for itself which threads may use it.
struct Carried<Value>: @unchecked Sendable { var value: Value }

/// An instance that was handed in, until its environment has released it.
final class InstanceHolder: Sendable {
  private let state: Locked<Carried<AnyObject?>>

  init(_ instance: AnyObject) { state = Locked(Carried(value: instance)) }

  var instance: AnyObject? { state.withLock { $0 }.value }

  func letGo() {
    // Its end is users' code, and comes when the lock is free again.
    _ = state.withLock { state in
      defer { state.value = nil }
      return state
    }
  }
}
