/// What a property asks for, and how it is set.
struct PropertyAccess {
  /// The type that has the property; that of a template may be a superclass of the bean's.
  let owner: Any.Type
  /// What the property asks for.
  let dependency: Dependency
  /// Sets the property of an object that is an `owner`.
  let set: (AnyObject, Argument) throws -> Void

  init(owner: Any.Type, dependency: Dependency, set: @escaping (AnyObject, Argument) throws -> Void) {
    self.owner = owner
    self.dependency = dependency
    self.set = set
  }

  init<Instance, Value>(_ path: ReferenceWritableKeyPath<Instance, Value>) {
    self.init(owner: Instance.self, dependency: Dependency.of(Value.self)) { object, argument in
      guard let instance = Box.read(object, as: Instance.self) else {
        throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(object))) is not a \(Instance.self)")
      }
      instance[keyPath: path] = argument.value(as: Value.self)
    }
  }
}
