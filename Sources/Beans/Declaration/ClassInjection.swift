import BeansReflection

/// What a class says about the injection of one of its properties.
struct ClassInjection {
  enum Source {
    /// A bean, by id or by the property's type.
    case bean(id: String?)
    /// The bean whose id stands in the object.
    case named(@Sendable (AnyObject) -> String)
    case configuration(InjectConfigurationValue)
    /// Whatever a user's `Injection` computes.
    case custom(Inject)
  }

  /// The property's name in Swift.
  let name: String
  let property: PropertyDescriptor
  let source: Source
  let setter: PropertySetter
  /// Gives the property a value that is about to be replaced, and tells whether it has not been. nil for properties that
  /// can be read at any time: setting one through a key path reads it, which an `@Injected` one does not survive without
  /// a value.
  let stopgap: (set: @Sendable (AnyObject, Argument) -> Void, isLeft: @Sendable (AnyObject) -> Bool)?
  /// Whether a key path to a stored property of that type can only lead here.
  let isSole: Bool

  /// How faults call it.
  var point: String { "property '\(name)' of \(property.owner)" }

  private init(_ property: PropertyDescriptor, _ inject: Inject, isSole: Bool) throws {
    self.name = property.getName()
    self.property = property
    self.source =
      switch inject {
      case let bean as InjectBean: .bean(id: bean.id)
      case let value as InjectConfigurationValue: .configuration(value)
      default: .custom(inject)
      }
    self.setter = try PropertySetter(property)
    self.stopgap = nil
    self.isSole = isSole
  }

  /// nil where the memory of the property cannot be accessed.
  fileprivate init?<Field: InjectedField>(_ property: PropertyDescriptor, of type: Field.Type) {
    guard let field = property.access(as: type) else { return nil }
    let store: @Sendable (AnyObject, Argument, Bool) -> Void = { object, argument, isStopgap in
      let value = Injected(argument.take(as: Field.Value.self), isStopgap: isStopgap)
      field.store(object, Field.holding(value, insteadOf: field.load(object)))
    }
    // A property wrapper's storage is named after the property.
    self.name = String(property.getName().dropFirst())
    self.property = property
    self.source = Field.source { field.load($0) }
    self.setter = PropertySetter(property.owner, Parameter.of(Field.Value.self)) { store($0, $1, false) }
    self.stopgap = ({ store($0, $1, true) }, { field.load($0)?.injected.isStopgap == true })
    self.isSole = false
  }

  /// Those of a class, inherited ones first. Throws what an initializer throws, or for a property that cannot be set.
  static func all(of type: AnyClass) throws -> [ClassInjection] {
    let properties = try BeanDescriptor.forClass(type).getProperties()
    return try properties.compactMap { property in
      guard let inject = property.injection else { return ofField(property) }
      let isSole = !properties.contains { $0 !== property && valueType(of: $0) == property.declaredType }
      return try ClassInjection(property, inject, isSole: isSole)
    }
  }

  /// Whether a class, or a superclass, has properties that ask for injection by themselves.
  static func areDeclared(in type: AnyClass) -> Bool {
    TypeRelation.classes(of: type).contains { owner in
      // A property wrapper's storage begins with an underscore: only then is the type worth asking for.
      StoredField.hasUnderscored(in: owner)
        && StoredField.declared(by: owner).contains { $0.type is any InjectedField.Type }
    }
  }

  /// The injection that a property of a class asks for by its type.
  fileprivate static func ofField(_ property: PropertyDescriptor) -> ClassInjection? {
    (property.declaredType as? any InjectedField.Type).flatMap { ClassInjection(property, of: $0) }
  }

  /// The type that a key path to the property sees.
  private static func valueType(of property: PropertyDescriptor) -> Any.Type {
    (property.declaredType as? any InjectedField.Type)?.valueType ?? property.declaredType
  }
}

extension PropertySetter {
  /// The property of a class that has this name in Swift: stored, or wrapped by `@Injected`.
  ///
  /// - Throws: `.unknownProperty`; `.invalidDeclaration` for one that cannot be set; what a descriptor's initializer throws.
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
  /// Whether the declaration sets the property that the class has an injection for; nil where that cannot be told.
  ///
  /// Key paths do not say. That of a final property has the property's name in its description; another may lead to any
  /// property of its type, of which there may be only one.
  func sets(_ injection: ClassInjection) -> Bool? {
    switch name {
    case .text(let name): return name == injection.name
    case .path(let path):
      guard let setter, setter.parameter.wanted == injection.setter.parameter.wanted else { return false }
      return injection.isSole || "\(path)" == "\\\(setter.owner).\(injection.name)" ? true : nil
    }
  }
}

/// The type of a stored property that asks for injection by itself.
private protocol InjectedField: SendableMetatype {
  associatedtype Value
  var injected: Injected<Value> { get }
  /// What is injected into a property that `load` reads.
  static func source(_ load: @escaping @Sendable (AnyObject) -> Self?) -> ClassInjection.Source
  /// The property with a value; `old` is what it was before.
  static func holding(_ injected: Injected<Value>, insteadOf old: @autoclosure () -> Self?) -> Self
}

extension InjectedField {
  fileprivate static var valueType: Any.Type { Value.self }
}

extension Injected: InjectedField {
  fileprivate var injected: Injected { self }

  fileprivate static func source(_ load: @escaping @Sendable (AnyObject) -> Injected?) -> ClassInjection.Source {
    .bean(id: nil)
  }

  fileprivate static func holding(_ injected: Injected, insteadOf old: @autoclosure () -> Injected?) -> Injected {
    injected
  }
}

extension InjectedById: InjectedField {
  fileprivate var injected: Injected<Value> { property }

  fileprivate static func source(_ load: @escaping @Sendable (AnyObject) -> InjectedById?) -> ClassInjection.Source {
    // An instance has the property from its first moment on.
    .named { load($0)?.id ?? "" }
  }

  fileprivate static func holding(
    _ injected: Injected<Value>, insteadOf old: @autoclosure () -> InjectedById?
  ) -> InjectedById {
    InjectedById(old()?.id ?? "", injected)
  }
}
