/// One property of one declaration: where the value comes from and how it is set.
struct PropertyInjection {
  enum Source {
    case value(Any)
    case text(String)
    case reference(String)
    case byType
    case declaration(BeanDeclaration)
  }

  let path: AnyKeyPath
  /// The type the key path starts from; a template may be of a superclass of the bean.
  let owner: Any.Type
  let source: Source
  /// What the property asks for.
  let dependency: Dependency
  /// Sets the property of an object that is an `owner`.
  let set: (AnyObject, Argument) throws -> Void

  init<Instance, Value>(_ path: ReferenceWritableKeyPath<Instance, Value>, _ source: Source) {
    self.path = path
    self.owner = Instance.self
    self.source = source
    self.dependency = Dependency.of(Value.self)
    self.set = { object, argument in
      guard let instance = Box.read(object, as: Instance.self) else {
        throw EnvironmentError(.typeMismatch, "\(type(of: Box.open(object))) is not a \(Instance.self)")
      }
      instance[keyPath: path] = argument.value(as: Value.self)
    }
  }
}
