/// A property that the container injects by its type: `@Injected var mailer: Mailer`.
///
/// For stored properties of classes. The type may be whatever a factory's parameter may be: a class, a protocol, an
/// optional (nil when there is no bean), an array, a `Provider`. The dependency is known at startup, as one that stands in
/// a declaration: it is built first, and one that is missing, ambiguous, circular or too short-lived is a fault then. A
/// declaration's own `.property` for the property wins.
///
/// Reading it before it is injected is an error of the program, and traps, unless it is an optional. Set it by hand in an
/// object that no container builds, or hand the object to `Environment.inject`.
@propertyWrapper
public struct Injected<Value> {
  private var value: Value?
  /// Whether the value only stands in for the one that is about to be set: see `ClassInjection.stopgap`.
  private(set) var isStopgap = false

  /// A property to be injected.
  public init() {}

  /// A property that has been injected.
  init(_ value: Value, isStopgap: Bool) {
    self.value = value
    self.isStopgap = isStopgap
  }

  /// The injected value.
  public var wrappedValue: Value {
    get { read("an @Injected \(Value.self)") }
    set { self = Injected(newValue, isStopgap: false) }
  }

  /// The value of the property that an error calls `name`.
  fileprivate func read(_ name: @autoclosure () -> String) -> Value {
    // nil, where the type has one.
    guard let value = value ?? Any?.none as Any as? Value else {
      preconditionFailure("\(name()) is read before the container has injected it")
    }
    return value
  }
}

extension Injected: Sendable where Value: Sendable {}

/// A property that the container injects by id: `@InjectedById("main") var store: Store`.
///
/// As `Injected`, except for what startup can know. The id stands in the instance, and no instance is made to ask for
/// it: startup checks only that some bean of the type has an id. The bean itself is looked up when the one that needs it
/// is built, and built first if need be; a wrong id, a circle or a scope that is not open is an error then, which is still
/// startup for a singleton that is not lazy. Where startup has to know everything, say `InjectBean(id:)` in the class's
/// bean descriptor, or in the declaration.
@propertyWrapper
public struct InjectedById<Value> {
  /// The property, as one without an id.
  private(set) var property = Injected<Value>()
  /// The id of the bean.
  public let id: String

  /// A property to be injected with the bean of that id.
  public init(_ id: String) { self.id = id }

  /// A property that has been injected.
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
