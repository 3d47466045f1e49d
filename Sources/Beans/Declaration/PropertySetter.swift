import BeansReflection

/// The request of a property, and the code that sets it.
@usableFromInline
struct PropertySetter: Sendable {
  /// The type that has the property; for a template, this may be a superclass of the bean's type.
  let owner: Any.Type
  /// The request of the property.
  let parameter: Parameter
  /// Sets the property of an object that is an `owner`, as startup has checked. Takes over the argument's reference
  /// count.
  let set: @Sendable (AnyObject, Argument) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ parameter: Parameter, set: @escaping @Sendable (AnyObject, Argument) throws -> Void) {
    self.owner = owner
    self.parameter = parameter
    self.set = set
  }

  /// Creates a setter for a key path. Inlined into the module that declares the bean, so that it is compiled for the
  /// concrete types and the one path.
  @inlinable @inline(__always)
  init<Instance, Value>(_ path: ReferenceWritableKeyPath<Instance, Value>) {
    // Key paths are immutable; they capture only indices that the user wrote.
    nonisolated(unsafe) let path = path
    let place = PathPlace()
    self.init(Instance.self, Parameter.of(Value.self)) { object, argument in
      let value = argument.take(as: Value.self)
      if place.store(value, in: object) { return }
      let instance: Instance = try BeanCallback.read(object)
      unsafe place.store(value, at: path, &instance[keyPath: path], of: object)
    }
  }

  /// Creates a setter for a stored property of objects that have it, as startup has checked. Throws if the property
  /// cannot be set at all.
  init(_ property: PropertyDescriptor) throws {
    try property.checkWritable()
    func open<Value>(_ type: Value.Type) -> PropertySetter? {
      property.access(as: type).map { field in
        PropertySetter(property.owner, Parameter.of(type)) { field.store($0, $1.take(as: type)) }
      }
    }
    guard let setter = open(property.declaredType) else {
      throw EnvironmentError(cause: .unwritableProperty, "\(property.label) cannot be set by name")
    }
    self = setter
  }
}
