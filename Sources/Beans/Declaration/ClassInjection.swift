package import BeansReflection

/// The injection that a class declares for one of its properties.
package struct ClassInjection {
  /// The property's name in Swift.
  let name: String
  let property: PropertyDescriptor
  let source: InjectionSource
  let setter: PropertySetter
  /// Stores a temporary value in the property, and returns whether that value is still there. nil for properties that
  /// can be read at any time. Setting a property through a key path reads it first, and reading a property wrapper
  /// without a value traps.
  var stopgap: (set: @Sendable (AnyObject, Argument) -> Void, isLeft: @Sendable (AnyObject) -> Bool)?
  /// Whether every key path to a stored property of that type leads to this one.
  var isSole = false

  /// The name of the property in faults.
  var point: InjectionPoint { .injection(property, name: name) }

  /// Returns the injections of a class, inherited ones first. Throws the error of a descriptor's initializer, or for a
  /// property that cannot be set.
  static func all(of type: AnyClass) throws -> [ClassInjection] {
    let properties = try BeanDescriptor.forClass(type).getProperties()
    return try properties.compactMap { property in
      guard let source = property.injection else { return ofField(property) }
      let isSole = !properties.contains { $0 !== property && injectedType(of: $0) == property.declaredType }
      return ClassInjection(
        name: property.getName(), property: property, source: source, setter: try PropertySetter(property),
        isSole: isSole)
    }
  }

  /// Whether a class, or a superclass, has properties that declare an injection by their type.
  static func areDeclared(in type: AnyClass) -> Bool {
    ClassHierarchy.classes(of: type).contains { owner in
      // A property wrapper's storage begins with an underscore: other types need no check.
      StoredField.hasUnderscored(in: owner)
        && StoredField.declared(by: owner).contains { $0.type is any InjectedField.Type }
    }
  }

  /// Returns the injection that a property of a class declares by its type.
  fileprivate static func ofField(_ property: PropertyDescriptor) -> ClassInjection? {
    (property.declaredType as? any InjectedField.Type)?.injection(of: property)
  }

  /// Returns the type that a key path to the property has as its value.
  private static func injectedType(of property: PropertyDescriptor) -> Any.Type {
    (property.declaredType as? any InjectedField.Type)?.valueType ?? property.declaredType
  }
}

extension PropertySetter {
  /// Returns the setter for the property of a class with this name in Swift: stored, or the value of an injected field.
  ///
  /// - Throws: `.unknownProperty`; `.invalidDeclaration` for a property that cannot be set; the error of a descriptor's
  ///   initializer.
  static func named(_ name: String, of type: Any.Type) throws -> PropertySetter {
    guard let type = type as? AnyClass else {
      throw EnvironmentError(
        cause: .propertyWithoutClass, "\(type) is no class: only classes have properties with names")
    }
    let descriptor = try BeanDescriptor.forClass(type)
    if descriptor.findProperty(name) == nil, let storage = descriptor.findProperty("_" + name),
      let injection = ClassInjection.ofField(storage)
    {
      return injection.setter
    }
    return try PropertySetter(descriptor.getProperty(name))
  }
}

extension PropertyInjection {
  /// Whether the declaration sets the property of a class injection; nil where this cannot be decided.
  ///
  /// A key path does not identify its property. The description of a key path to a final property contains the
  /// property's name. Any other key path may lead to each property of its type, and is certain only if the class has
  /// one such property.
  func sets(_ injection: ClassInjection) -> Bool? {
    switch name {
    case .text(let name): return name == injection.name
    case .path(let path):
      guard let setter, setter.parameter.wanted == injection.setter.parameter.wanted else { return false }
      return if injection.isSole || "\(path)" == "\\\(setter.owner).\(injection.name)" { true } else { nil }
    }
  }
}

/// The type of a stored property that declares an injection by its type: a property wrapper of `BeansInject`.
package protocol InjectedField: SendableMetatype {
  /// The type of the wrapped value, which a key path to the property has.
  static var valueType: Any.Type { get }
  /// Returns the injection of a property of this type; nil where its memory cannot be accessed.
  static func injection(of property: PropertyDescriptor) -> ClassInjection?
}

extension ClassInjection {
  /// Creates the injection of a property wrapper.
  ///
  /// - Parameters:
  ///   - storage: the wrapper's storage, which is named after the property.
  ///   - type: the type of the wrapped value.
  ///   - source: the source of the value.
  ///   - store: stores a value in an object; the flag is true for a stopgap.
  ///   - hasStopgap: whether the value in an object is a stopgap.
  package init<Value>(
    _ storage: PropertyDescriptor, wrapping type: Value.Type, from source: InjectionSource,
    store: @escaping @Sendable (AnyObject, Value, Bool) -> Void, hasStopgap: @escaping @Sendable (AnyObject) -> Bool
  ) {
    self.init(
      name: String(storage.getName().dropFirst()), property: storage, source: source,
      setter: PropertySetter(storage.owner, Parameter.of(type)) { store($0, $1.take(as: type), false) },
      stopgap: ({ store($0, $1.take(as: type), true) }, hasStopgap))
  }
}

/// A bean that computes the values of one kind of injection: an `Injection` of `BeansInject`.
package protocol InjectionProvider: AnyObject, Sendable {
  /// The class of the requests that this serves.
  var kind: AnyClass { get }
  /// Returns the value for one property of one bean, of the property's type. Runs code of users.
  func value(for request: AnyObject, of property: PropertyDescriptor, in environment: Environment) throws -> Any?
}
