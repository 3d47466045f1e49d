/// A stored property's type that asks for injection by itself.
protocol InjectedField {
  /// The type that a key path to the property sees.
  static var valueType: Any.Type { get }
  /// What the property asks for, and how it gets it; nil where its memory cannot be accessed.
  static func injection(of property: PropertyDescriptor) -> ClassInjection?
}

extension Injected: InjectedField {
  static var valueType: Any.Type { Value.self }

  static func injection(of property: PropertyDescriptor) -> ClassInjection? {
    guard let field = property.access(as: Injected<Value>.self) else { return nil }
    let access = PropertyAccess(owner: property.owner, dependency: Dependency.of(Value.self)) { object, argument in
      field.store(object, Injected(argument.value(as: Value.self)))
    }
    let stopgap = ClassInjection.Stopgap(
      set: { field.store($0, Injected($1.value(as: Value.self), isStopgap: true)) },
      isLeft: { field.load($0)?.isStopgap == true })
    return ClassInjection(wrapped: property, .bean(id: nil), access, stopgap)
  }
}

extension InjectedById: InjectedField {
  static var valueType: Any.Type { Value.self }

  static func injection(of property: PropertyDescriptor) -> ClassInjection? {
    guard let field = property.access(as: InjectedById<Value>.self) else { return nil }
    // An instance has the property from its first moment on.
    let id: (AnyObject) -> String = { field.load($0)?.id ?? "" }
    let access = PropertyAccess(owner: property.owner, dependency: Dependency.of(Value.self)) { object, argument in
      field.store(object, InjectedById(id(object), argument.value(as: Value.self)))
    }
    let stopgap = ClassInjection.Stopgap(
      set: { field.store($0, InjectedById(id($0), $1.value(as: Value.self), isStopgap: true)) },
      isLeft: { field.load($0)?.isStopgap == true })
    return ClassInjection(wrapped: property, .named(id), access, stopgap)
  }
}
