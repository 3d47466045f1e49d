@_spi(BeansPackage) import BeansErrors

/// The content of a slot whose bean is not a class instance.
@usableFromInline
class Box {
  @usableFromInline init() {}

  /// The value inside the box.
  var any: Any { fatalError("abstract: every box is a ValueBox") }

  /// Stores the value as the next element of a tuple.
  func store(in memory: inout TupleMemory) { fatalError("abstract: a box of arguments has a type") }

  /// The dynamic type of the value.
  var valueType: Any.Type { type(of: any) }

  /// Returns the bean itself: the object, or the value in its box.
  static func open(_ object: AnyObject) -> Any { (object as? Box)?.any ?? object }

  /// The identity of the object inside an existential value; nil for every other value.
  var identity: ObjectIdentifier? {
    let value = any
    return if type(of: value) is AnyObject.Type { ObjectIdentifier(value as AnyObject) } else { nil }
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

  override func store(in memory: inout TupleMemory) { memory.append(value) }
}

/// A type whose values have the memory of an array of objects: a `ValueBox` of one would need the metadata of its class,
/// which the runtime has to search for.
protocol AssembledType: SendableMetatype {
  /// Returns the value of the objects.
  static func value(_ objects: [AnyObject]) -> Self
}

/// The objects of an array. An array of any class has the memory of one of objects.
final class CollectedObjects: Box {
  private let objects: [AnyObject]
  /// The type of the array.
  private let type: any AssembledType.Type

  init(_ objects: [AnyObject], _ type: any AssembledType.Type) {
    (self.objects, self.type) = (objects, type)
    super.init()
  }

  override var any: Any { type.value(objects) }

  override func store(in memory: inout TupleMemory) { memory.append(objects) }
}

extension Array: AssembledType {
  static func value(_ objects: [AnyObject]) -> [Element] { uncheckedCast(objects, to: [Element].self) }
}

/// The place of an object until one thread takes it out. Retains the object.
struct ObjectCell: ~Copyable, Sendable {
  private let reference: Locked<ObjectReference?>

  init(_ object: AnyObject?) { reference = Locked(object.map { ObjectReference($0) }) }

  /// The object; nil once it has been taken.
  var object: AnyObject? {
    reference.withLock { reference in
      reference?.retain()
      return reference
    }?.take(as: AnyObject.self)
  }

  /// Returns the owned reference to the first caller, outside of the lock; nil for every later caller.
  func take() -> ObjectReference? { reference.withLock { $0.take() } }

  deinit { take()?.release() }
}

/// Holds an instance that a user supplied, until its environment has released it.
package final class InstanceHolder: Sendable {
  private let cell: ObjectCell

  package init(_ instance: AnyObject) { cell = ObjectCell(instance) }

  package var instance: AnyObject? { cell.object }

  func letGo() { cell.take()?.release() }
}
