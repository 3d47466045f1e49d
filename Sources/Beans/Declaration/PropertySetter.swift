import BeansReflection

/// What a property asks for, and how it is set.
@usableFromInline
struct PropertySetter: Sendable {
  /// The type that has the property; that of a template may be a superclass of the bean's.
  let owner: Any.Type
  /// What the property asks for.
  let parameter: Parameter
  /// Sets the property of an object that is an `owner`: startup has checked it. Takes the argument's count over.
  let set: @Sendable (AnyObject, Argument) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ parameter: Parameter, set: @escaping @Sendable (AnyObject, Argument) throws -> Void) {
    self.owner = owner
    self.parameter = parameter
    self.set = set
  }

  /// Inlined into the module that declares the bean, so that it is compiled for the concrete types and the one path.
  @inlinable @inline(__always)
  init<Instance, Value>(_ path: ReferenceWritableKeyPath<Instance, Value>) {
    // Key paths are immutable, and what they capture is an index the user wrote.
    nonisolated(unsafe) let path = path
    let place = PathPlace()
    self.init(Instance.self, Parameter.of(Value.self)) { object, argument in
      let value = argument.take(as: Value.self)
      if place.store(value, in: object) { return }
      let instance: Instance = try BeanCallback.read(object)
      unsafe place.store(value, at: path, &instance[keyPath: path], of: object)
    }
  }

  /// The stored property of an object that startup has found to have it. Throws where it cannot be set at all.
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
