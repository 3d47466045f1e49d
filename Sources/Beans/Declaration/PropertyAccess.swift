/// What a property asks for, and how it is set.
@usableFromInline
struct PropertyAccess {
  /// The type that has the property; that of a template may be a superclass of the bean's.
  let owner: Any.Type
  /// What the property asks for.
  let dependency: Dependency
  /// Sets the property of an object that is an `owner`: startup has checked it.
  let set: (AnyObject, Argument) throws -> Void
  /// The same without a call, for arguments that it can take;
  let field: ReferenceField?
  /// what a key path leads to may turn out to be such a field.
  let place: PathPlace?

  init(
    owner: Any.Type, dependency: Dependency, field: ReferenceField? = nil,
    set: @escaping (AnyObject, Argument) throws -> Void
  ) {
    self.owner = owner
    self.dependency = dependency
    self.set = set
    self.field = field
    self.place = nil
  }

  @usableFromInline
  init(
    _ owner: Any.Type, _ dependency: Dependency, _ place: PathPlace, set: @escaping (AnyObject, Argument) throws -> Void
  ) {
    self.owner = owner
    self.dependency = dependency
    self.set = set
    self.field = nil
    self.place = place
  }

  /// Inlined into the module that declares the bean, so that it is compiled for the concrete types and the one path.
  @inlinable @inline(__always)
  init<Instance, Value>(_ path: ReferenceWritableKeyPath<Instance, Value>) {
    let dependency = Dependency.of(Value.self)
    let place = PathPlace(dependency, size: MemoryLayout<Value>.size)
    self.init(Instance.self, dependency, place) { object, argument in
      let value = argument.value(as: Value.self)
      if let memory = place.memory(in: object) {
        memory.assumingMemoryBound(to: Value.self).pointee = value
      } else if Instance.self is AnyObject.Type {
        // A class's bean stands in its slot without a box.
        let instance = unsafeBitCast(object, to: Instance.self)
        withUnsafeMutablePointer(to: &instance[keyPath: path]) { property in
          property.pointee = value
          place.learn(property, path, in: object)
        }
      } else {
        let instance: Instance = try BeanCallback.read(object)
        instance[keyPath: path] = value
      }
    }
  }
}

extension PropertyAccess {
  /// The stored property of an object that startup has found to have it. Throws where it cannot be set at all.
  init(_ property: PropertyDescriptor) throws {
    try property.checkWritable()
    func open<Value>(_ type: Value.Type) -> PropertyAccess? {
      property.access(as: type).map { field in
        PropertyAccess(owner: property.owner, dependency: Dependency.of(type), field: field.reference) {
          object, argument in
          field.store(object, argument.value(as: type))
        }
      }
    }
    guard let access = _openExistential(property.declaredType, do: open) else {
      throw EnvironmentError(.invalidDeclaration, "\(property.label) cannot be set by name")
    }
    self = access
  }

  /// The property of a class that has this name in Swift: stored, or wrapped by `@Injected`.
  ///
  /// - Throws: `.unknownProperty`; `.invalidDeclaration` for one that cannot be set; what a descriptor's initializer throws.
  static func named(_ name: String, of type: Any.Type) throws -> PropertyAccess {
    guard let type = type as? AnyClass else {
      throw EnvironmentError(.unknownProperty, "\(type) is no class: only classes have properties with names")
    }
    let descriptor = try BeanDescriptor.forClass(type)
    if descriptor.findProperty(name) == nil, let storage = descriptor.findProperty("_" + name),
      let injection = (storage.declaredType as? any InjectedField.Type)?.injection(of: storage)
    {
      return injection.access
    }
    return try PropertyAccess(descriptor.getProperty(name))
  }
}
