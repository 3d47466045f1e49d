/// What a class says about the injection of one of its properties.
struct ClassInjection {
  enum Source {
    /// A bean, by id or by the property's type.
    case bean(id: String?)
    /// The bean whose id stands in the object.
    case named((AnyObject) -> String)
    case configuration(InjectConfigurationValue)
    /// Whatever a user's `Injection` computes.
    case custom(Inject)
  }

  /// Setting a property through a key path reads it first, which an `@Injected` one does not survive without a value.
  struct Stopgap {
    /// Gives the property a value that is about to be replaced.
    let set: (AnyObject, Argument) -> Void
    /// Whether it has not been replaced.
    let isLeft: (AnyObject) -> Bool
  }

  /// The property's name in Swift.
  let name: String
  let property: PropertyDescriptor
  let source: Source
  let access: PropertyAccess
  /// nil for properties that can be read at any time.
  let stopgap: Stopgap?
  /// Whether a key path to a stored property of that type can only lead here.
  let isSole: Bool

  /// A property wrapper's storage is named after the property.
  init(wrapped property: PropertyDescriptor, _ source: Source, _ access: PropertyAccess, _ stopgap: Stopgap) {
    self.name = String(property.getName().dropFirst())
    self.property = property
    self.source = source
    self.access = access
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
    self.access = try PropertyAccess(property)
    self.stopgap = nil
    self.isSole = isSole
  }

  /// Those of a class, inherited ones first. Throws what an initializer throws, or for a property that cannot be set.
  static func all(of type: AnyClass) throws -> [ClassInjection] {
    let properties = try BeanDescriptor.forClass(type).getProperties()
    return try properties.compactMap { property in
      if let inject = property.injection {
        let isSole = !properties.contains { $0 !== property && $0.declaredType == property.declaredType }
        return try ClassInjection(property, inject, isSole: isSole)
      }
      return (property.declaredType as? any InjectedField.Type)?.injection(of: property)
    }
  }

  /// How faults call it.
  var place: String { "property '\(name)' of \(property.owner)" }
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
      if let access, access.dependency.wanted == injection.access.dependency.wanted {
        injection.isSole || "\(path)" == "\\\(access.owner).\(injection.name)" ? .yes : .maybe
      } else {
        .no
      }
    }
  }
}
