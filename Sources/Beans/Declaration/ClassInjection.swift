import Synchronization
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

  /// Setting a property through a key path reads it first, which an `@Injected` one does not survive without a value.
  struct Stopgap {
    /// Gives the property a value that is about to be replaced.
    let set: @Sendable (AnyObject, Argument) -> Void
    /// Whether it has not been replaced.
    let isLeft: @Sendable (AnyObject) -> Bool
  }

  /// The property's name in Swift.
  let name: String
  let property: PropertyDescriptor
  let source: Source
  let setter: PropertySetter
  /// nil for properties that can be read at any time.
  let stopgap: Stopgap?
  /// Whether a key path to a stored property of that type can only lead here.
  let isSole: Bool

  /// A property wrapper's storage is named after the property.
  init(wrapped property: PropertyDescriptor, _ source: Source, _ setter: PropertySetter, _ stopgap: Stopgap) {
    self.name = String(property.getName().dropFirst())
    self.property = property
    self.source = source
    self.setter = setter
    self.stopgap = stopgap
    self.isSole = false
  }

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

  /// Those of a class, inherited ones first. Throws what an initializer throws, or for a property that cannot be set.
  static func all(of type: AnyClass) throws -> [ClassInjection] {
    let properties = try BeanDescriptor.forClass(type).getProperties()
    return try properties.compactMap { property in
      if let inject = property.injection {
        let isSole = !properties.contains { $0 !== property && valueType(of: $0) == property.declaredType }
        return try ClassInjection(property, inject, isSole: isSole)
      }
      return (property.declaredType as? any InjectedField.Type)?.injection(of: property)
    }
  }

  private static func valueType(of property: PropertyDescriptor) -> Any.Type {
    (property.declaredType as? any InjectedField.Type)?.valueType ?? property.declaredType
  }

  /// How faults call it.
  var point: String { "property '\(name)' of \(property.owner)" }
}

extension PropertyInjection {
  enum Answer { case yes, maybe, no }

  /// Whether the declaration sets the property that the class has an injection for.
  ///
  /// Key paths do not say. That of a final property has the property's name in its description; another may lead to any
  /// property of its type, of which there may be only one.
  func sets(_ injection: ClassInjection) -> Answer {
    switch name {
    case .text(let name): name == injection.name ? .yes : .no
    case .path(let path):
      if let setter, setter.parameter.wanted == injection.setter.parameter.wanted {
        injection.isSole || "\(path)" == "\\\(setter.owner).\(injection.name)" ? .yes : .maybe
      } else {
        .no
      }
    }
  }
}

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
    let setter = PropertySetter(property.owner, Parameter.of(Value.self)) { object, argument in
      field.store(object, Injected(argument.take(as: Value.self)))
    }
    let stopgap = ClassInjection.Stopgap(
      set: { field.store($0, Injected($1.take(as: Value.self), isStopgap: true)) },
      isLeft: { field.load($0)?.isStopgap == true })
    return ClassInjection(wrapped: property, .bean(id: nil), setter, stopgap)
  }
}

extension InjectedById: InjectedField {
  static var valueType: Any.Type { Value.self }

  static func injection(of property: PropertyDescriptor) -> ClassInjection? {
    guard let field = property.access(as: InjectedById<Value>.self) else { return nil }
    // An instance has the property from its first moment on.
    let id: @Sendable (AnyObject) -> String = { field.load($0)?.id ?? "" }
    let setter = PropertySetter(property.owner, Parameter.of(Value.self)) { object, argument in
      field.store(object, InjectedById(id(object), argument.take(as: Value.self)))
    }
    let stopgap = ClassInjection.Stopgap(
      set: { field.store($0, InjectedById(id($0), $1.take(as: Value.self), isStopgap: true)) },
      isLeft: { field.load($0)?.isStopgap == true })
    return ClassInjection(wrapped: property, .named(id), setter, stopgap)
  }
}

/// Which classes have properties that ask for injection by themselves.
enum InjectedClasses {
  /// Costs a look at the names of the class's own properties, once per class and superclass.
  static func contains(_ type: AnyClass) -> Bool {
    return TypeRelation.classes(of: type).contains { owner in
      // A property wrapper's storage begins with an underscore: only then is the type worth asking for.
      StoredField.hasUnderscored(in: owner)
        && StoredField.declared(by: owner).contains { $0.type is any InjectedField.Type }
    }
  }
}
