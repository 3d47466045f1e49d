@_spi(BeansPackage) package import BeansErrors

/// One stored property of a class: its name, its declared type, and access to it in any instance.
///
/// A subclass has its own descriptors of inherited properties: an injection declared for them does not affect the
/// superclass, and one declared for the superclass applies to the subclass as long as the subclass has none of its own.
public final class PropertyDescriptor: Sendable {
  private let field: StoredField
  private let access: FieldAccess?
  /// The reason why there is no access.
  private let obstacle: String?
  /// The superclass's descriptor of the same property.
  private let inherited: PropertyDescriptor?
  private let declaredInjection = Locked<InjectionSource?>(nil)

  /// The type as declared, with its optionality; `Any` if the runtime does not have it.
  package let declaredType: Any.Type

  init(_ field: StoredField, obstacle ownerObstacle: String?) {
    self.field = field
    inherited = nil
    obstacle = ownerObstacle ?? field.obstacle
    let stored = field.type ?? Any.self
    access = obstacle == nil ? FieldAccess.to(field, of: stored) : nil
    declaredType = field.isLazy ? (stored as? any OptionalType.Type)?.wrappedType ?? stored : stored
  }

  /// Creates the descriptor of a subclass.
  init(inheriting property: PropertyDescriptor) {
    field = property.field
    access = property.access
    obstacle = property.obstacle
    inherited = property
    declaredType = property.declaredType
  }

  /// Returns the name, as declared. The storage of a property wrapper is called `_name`.
  public func getName() -> String { field.name }

  /// Returns the declared type; for an optional property, the wrapped type.
  public func getPropertyType() -> Any.Type { (declaredType as? any OptionalType.Type)?.wrappedType ?? declaredType }

  /// Returns whether the property may be nil.
  public func isOptional() -> Bool { declaredType is any OptionalType.Type }

  /// Returns the value in `object`; nil if an optional or `weak` property is nil, or a `lazy` one has not been
  /// computed.
  ///
  /// Reads the stored value, as unsynchronised as the property itself.
  ///
  /// - Throws: `.typeMismatch` if `object` is no instance of the declaring class; `.invalidDeclaration` for properties
  ///   that cannot be read: functions, metatypes of values, `unowned` references, values that cannot be copied, actors.
  public func get(_ object: AnyObject) throws -> Any? {
    try readable(in: object).read(object)
  }

  /// Stores `value` in `object`; the old value is released.
  ///
  /// Subclass instances fit superclass types, conforming values fit protocol types, values and nil fit optionals;
  /// nothing is converted. Writes the stored value, without the property's observers, and as unsynchronised as the
  /// property itself.
  ///
  /// - Throws: `.typeMismatch` for a value of another type, for nil if the property is no optional, and if `object` is
  ///   no instance of the declaring class; `.invalidDeclaration` for constants and for properties that `get` refuses.
  public func set(_ object: AnyObject, value: Any?) throws {
    try checkWritable()
    guard try readable(in: object).write(object, value) else { throw mismatch(value) }
  }

  /// Declares the injection of the property; replaces an earlier one. Callable from any thread.
  package func declare(_ injection: InjectionSource) {
    declaredInjection.withLock { $0 = injection }
    DescribedClasses.note(owner)
  }

  /// The injection that was declared for the property, here or else in the nearest superclass.
  package var injection: InjectionSource? { declaredInjection.withLock { $0 } ?? inherited?.injection }

  /// The class that declares the property.
  package var owner: AnyClass { field.owner }

  /// The text `Class.name`.
  package var label: String { "\(field.owner).\(field.name)" }

  /// Returns whether `set` would store the value.
  func accepts(_ value: Any?) -> Bool { access?.accepts(value) ?? false }

  /// Throws if the property cannot be set to any value.
  package func checkWritable() throws {
    if let obstacle { throw refusal(obstacle) }
    if !field.isVariable { throw refusal("it is a constant") }
  }

  /// Returns the access without checks of the object, for values of exactly the declared type; nil for every other
  /// type.
  package func access<Value>(as type: Value.Type) -> TypedAccess<Value>? { access as? TypedAccess<Value> }

  /// Returns the error for a `value` that does not have the property's type.
  package func mismatch(_ value: Any?) -> EnvironmentError {
    guard let value else { return EnvironmentError(cause: .nilValue, "\(label) is no optional: it cannot be nil") }
    let text = (value as? any LosslessStringConvertible).map { " '\(String($0.description.prefix(80)))'" } ?? ""
    return EnvironmentError(.typeMismatch, "\(label) expects \(declaredType), got \(type(of: value))\(text)")
  }

  private func refusal(_ reason: String) -> EnvironmentError {
    EnvironmentError(cause: .unwritableProperty, "\(label) cannot be accessed by name: \(reason)")
  }

  private func readable(in object: AnyObject) throws -> FieldAccess {
    guard let access else { throw refusal(obstacle ?? "") }
    guard TypeRelation.isUsable(type(of: object), as: field.owner) else {
      throw EnvironmentError(.typeMismatch, "\(label) is no property of \(type(of: object))")
    }
    return access
  }
}
