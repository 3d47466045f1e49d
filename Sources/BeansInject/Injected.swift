import Beans
import BeansReflection

/// A property that the container injects by its type: `@Injected var mailer: Mailer`.
///
/// Use it for stored properties of classes. The type may be any type that a factory's parameter may have: a class, a
/// protocol, an optional (nil when there is no bean), an array, a `Provider`. Startup knows the dependency like one in
/// a declaration: it builds the bean first, and a missing, ambiguous, circular or shorter-lived bean is a fault. A
/// declaration's own `.property` for the property overrides the injection.
///
/// Reading the property before its injection is a programming error and traps, unless the type is an optional. In an
/// object that no container builds, set it by hand, or pass the object to `Environment.inject`.
@propertyWrapper
public struct Injected<Value> {
  private var value: Value?
  /// Whether the value is temporary, until the real one is set: see `ClassInjection.stopgap` in `Beans`.
  private(set) var isStopgap = false

  /// Creates a property to be injected.
  public init() {}

  /// Creates a property that has been injected.
  init(_ value: Value, isStopgap: Bool) {
    self.value = value
    self.isStopgap = isStopgap
  }

  /// The injected value.
  public var wrappedValue: Value {
    get { read("an @Injected \(Value.self)") }
    set { self = Injected(newValue, isStopgap: false) }
  }

  /// Returns the value of the property; the error message contains `name`.
  fileprivate func read(_ name: @autoclosure () -> String) -> Value {
    // nil, if the type has that value.
    guard let value = value ?? Any?.none as Any as? Value else {
      preconditionFailure("\(name()) is read before the container has injected it")
    }
    return value
  }
}

extension Injected: Sendable where Value: Sendable {}

/// A property that the container injects by id: `@InjectedById("main") var store: Store`.
///
/// It works like `Injected`, except that startup knows less. The instance stores the id, and startup makes no instance
/// to read it: startup checks only that some bean of the type has an id. The bean is looked up when the bean with the
/// property is built, and built first if necessary. A wrong id, a cycle or a scope that is not open is an error at that
/// time, which for a singleton that is not lazy is still during startup. If startup has to know the dependency, use
/// `InjectBean(id:)` in the class's bean descriptor, or in the declaration.
@propertyWrapper
public struct InjectedById<Value> {
  /// The property, as one without an id.
  private(set) var property = Injected<Value>()
  /// The id of the bean.
  let id: String

  /// Creates a property to be injected with the bean of that id.
  public init(_ id: String) { self.id = id }

  /// Creates a property that has been injected.
  init(_ id: String, _ property: Injected<Value>) {
    self.id = id
    self.property = property
  }

  /// The injected value.
  public var wrappedValue: Value {
    get { property.read("@InjectedById(\"\(id)\")") }
    set { property.wrappedValue = newValue }
  }
}

extension InjectedById: Sendable where Value: Sendable {}

/// A property wrapper of this module.
private protocol InjectedWrapper: InjectedField {
  associatedtype Value
  /// Whether the property stores the id of its bean.
  static var isNamed: Bool { get }
  var id: String { get }
  var property: Injected<Value> { get }
  init(_ id: String, _ property: Injected<Value>)
}

extension InjectedWrapper {
  package static var valueType: Any.Type { Value.self }

  package static func injection(of property: PropertyDescriptor) -> ClassInjection? {
    guard let field = property.access(as: Self.self) else { return nil }
    // An instance has the property from its initialization on.
    let id: @Sendable (AnyObject) -> String = { field.load($0)?.id ?? "" }
    return ClassInjection(
      property, wrapping: Value.self, from: isNamed ? .named(id) : .bean(id: nil),
      store: { object, value, isStopgap in
        field.store(object, Self(isNamed ? id(object) : "", Injected(value, isStopgap: isStopgap)))
      },
      hasStopgap: { field.load($0)?.property.isStopgap == true })
  }
}

extension Injected: InjectedWrapper {
  fileprivate static var isNamed: Bool { false }
  fileprivate var id: String { "" }
  fileprivate var property: Injected { self }
  fileprivate init(_ id: String, _ property: Injected) { self = property }
}

extension InjectedById: InjectedWrapper {
  fileprivate static var isNamed: Bool { true }
}
