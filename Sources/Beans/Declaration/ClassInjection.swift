import BeansReflection

/// The injection that a class declares for one of its properties.
struct ClassInjection {
  enum Source {
    /// A bean, by id or by the property's type.
    case bean(id: String?)
    /// The bean whose id the object stores.
    case named(@Sendable (AnyObject) -> String)
    case configuration(InjectConfigurationValue)
    /// The value that a user's `Injection` computes.
    case custom(Inject)
  }

  /// The property's name in Swift.
  let name: String
  let property: PropertyDescriptor
  let source: Source
  let setter: PropertySetter
  /// Stores a temporary value in the property, and returns whether that value is still there. nil for properties that
  /// can be read at any time. Setting a property through a key path reads it first, and reading an `@Injected` property
  /// without a value traps.
  var stopgap: (set: @Sendable (AnyObject, Argument) -> Void, isLeft: @Sendable (AnyObject) -> Bool)?
  /// Whether every key path to a stored property of that type leads to this one.
  var isSole = false

  /// The name of the property in faults.
  var point: InjectionPoint { .injection(property, name: name) }

  /// Returns the injection of a property that is an injected field; nil where its memory cannot be accessed.
  private static func ofField<Field: InjectedField>(
    _ property: PropertyDescriptor, _ type: Field.Type
  ) -> ClassInjection? {
    guard let field = property.access(as: type) else { return nil }
    // An instance has the property from its initialization on.
    let id: @Sendable (AnyObject) -> String = { field.load($0)?.id ?? "" }
    let store: @Sendable (AnyObject, Argument, Bool) -> Void = { object, argument, isStopgap in
      let value = Injected(argument.take(as: Field.Value.self), isStopgap: isStopgap)
      field.store(object, Field(Field.isNamed ? id(object) : "", value))
    }
    return ClassInjection(
      // A property wrapper's storage is named after the property.
      name: String(property.getName().dropFirst()), property: property,
      source: Field.isNamed ? .named(id) : .bean(id: nil),
      setter: PropertySetter(property.owner, Parameter.of(Field.Value.self)) { store($0, $1, false) },
      stopgap: ({ store($0, $1, true) }, { field.load($0)?.property.isStopgap == true }))
  }

  /// Returns the injections of a class, inherited ones first. Throws the error of a descriptor's initializer, or for a
  /// property that cannot be set.
  static func all(of type: AnyClass) throws -> [ClassInjection] {
    let properties = try BeanDescriptor.forClass(type).getProperties()
    return try properties.compactMap { property in
      guard let inject = property.injection else { return ofField(property) }
      let source: Source =
        switch inject {
        case let bean as InjectBean: .bean(id: bean.id)
        case let value as InjectConfigurationValue: .configuration(value)
        default: .custom(inject)
        }
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
    (property.declaredType as? any InjectedField.Type).flatMap { ofField(property, $0) }
  }

  /// Returns the type that a key path to the property has as its value.
  private static func injectedType(of property: PropertyDescriptor) -> Any.Type {
    (property.declaredType as? any InjectedField.Type)?.contentType ?? property.declaredType
  }
}

extension PropertySetter {
  /// Returns the setter for the property of a class with this name in Swift: stored, or wrapped by `@Injected`.
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

/// The type of a stored property that declares an injection by its type.
private protocol InjectedField: SendableMetatype {
  associatedtype Value
  /// Whether the property stores the id of its bean.
  static var isNamed: Bool { get }
  var id: String { get }
  var property: Injected<Value> { get }
  init(_ id: String, _ property: Injected<Value>)
}

extension InjectedField {
  fileprivate static var contentType: Any.Type { Value.self }
}

extension Injected: InjectedField {
  fileprivate static var isNamed: Bool { false }
  fileprivate var id: String { "" }
  fileprivate var property: Injected { self }
  fileprivate init(_ id: String, _ property: Injected) { self = property }
}

extension InjectedById: InjectedField {
  fileprivate static var isNamed: Bool { true }
}
