/// `Optional` of any type.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  /// The wrapped value, one level down.
  var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
  static var wrappedType: Any.Type { Wrapped.self }

  var wrappedValue: Any? { self.map { $0 as Any } }
}
