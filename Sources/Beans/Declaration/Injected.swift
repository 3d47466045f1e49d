/// A property that the container injects by its type: `@Injected var mailer: Mailer`.
///
/// For stored properties of classes. The type may be whatever a factory's parameter may be: a class, a protocol, an
/// optional (nil when there is no bean), an array, a `Provider`. The dependency is known at startup, as one that stands in
/// a declaration: it is built first, and one that is missing, ambiguous, circular or too short-lived is a fault then. A
/// declaration's own `.property` for the property wins. Costs one store per bean that has it.
///
/// Reading it before it is injected is an error of the program, and traps, unless it is an optional. Set it by hand in an
/// object that no container builds, or hand the object to `Environment.inject`.
@propertyWrapper
public struct Injected<Value> {
  private var value: Value?
  /// Whether the value only stands in for the one that is about to be set: see `ClassInjection.Stopgap`.
  private(set) var isStopgap = false

  /// A property to be injected.
  public init() {}

  /// A property that has been injected.
  init(_ value: Value, isStopgap: Bool = false) {
    self.value = value
    self.isStopgap = isStopgap
  }

  /// The injected value.
  public var wrappedValue: Value {
    get {
      guard let value = value ?? absent(Value.self) else {
        preconditionFailure("an @Injected \(Value.self) is read before the container has injected it")
      }
      return value
    }
    set {
      value = newValue
      isStopgap = false
    }
  }
}

extension Injected: Sendable where Value: Sendable {}

/// nil, where the type has one.
func absent<Value>(_ type: Value.Type) -> Value? { Any?.none as Any as? Value }

/// A property that the container injects by id: `@InjectedById("main") var store: Store`.
///
/// As `Injected`, except for what startup can know. The id stands in the instance, and no instance is made to ask for
/// it: startup checks only that some bean of the type has an id. The bean itself is looked up when the one that needs it
/// is built, and built first if need be; a wrong id, a circle or a scope that is not open is an error then, which is still
/// startup for a singleton that is not lazy. Where startup has to know everything, say `InjectBean(id:)` in the class's
/// bean descriptor, or in the declaration.
@propertyWrapper
public struct InjectedById<Value> {
  private var value: Value?
  /// Whether the value only stands in for the one that is about to be set: see `ClassInjection.Stopgap`.
  private(set) var isStopgap = false
  /// The id of the bean.
  public let id: String

  /// A property to be injected with the bean of that id.
  public init(_ id: String) { self.id = id }

  /// A property that has been injected.
  init(_ id: String, _ value: Value, isStopgap: Bool = false) {
    self.id = id
    self.value = value
    self.isStopgap = isStopgap
  }

  /// The injected value.
  public var wrappedValue: Value {
    get {
      guard let value = value ?? absent(Value.self) else {
        preconditionFailure("@InjectedById(\"\(id)\") is read before the container has injected it")
      }
      return value
    }
    set {
      value = newValue
      isStopgap = false
    }
  }
}

extension InjectedById: Sendable where Value: Sendable {}
