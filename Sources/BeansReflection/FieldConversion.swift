/// A conversion of values of any type to the type of one stored property, and back.
struct FieldConversion<Value>: Sendable {
  /// Returns the value as the property's type; nil if it does not fit.
  let fit: @Sendable (Any?) -> Value?
  /// Returns the value with one level of optionality removed.
  let open: @Sendable (Value) -> Any?

  static var plain: FieldConversion { FieldConversion(fit: { fit($0) }, open: { $0 }) }

  /// A conversion for optional properties: nil, and an optional without a value, become the property's nil.
  static func optional<Wrapped>() -> FieldConversion where Value == Wrapped? {
    FieldConversion(
      fit: { value in
        guard let value else { return .some(nil) }
        if type(of: value) == Value.self { return value as? Value }
        if let wrapped = FieldConversion<Wrapped>.fit(value) { return .some(wrapped) }
        guard let optional = value as? any OptionalType, optional.wrappedValue == nil else { return nil }
        return .some(nil)
      }, open: { $0.wrappedValue })
  }

  /// Instances of subclasses fit superclasses, conforming values fit protocols, and the value inside an optional fits
  /// as such. No number becomes another type of number, and no value becomes an object.
  private static func fit(_ value: Any?) -> Value? {
    guard let value else { return nil }
    if type(of: value) == Value.self { return value as? Value }
    if let optional = value as? any OptionalType, !(Value.self is any OptionalType.Type) {
      return fit(optional.wrappedValue)
    }
    // A cast to an object would wrap a struct into a box of the standard library.
    if Value.self is AnyClass || Value.self == AnyObject.self, !(type(of: value) is AnyClass) { return nil }
    return value as? Value
  }
}
