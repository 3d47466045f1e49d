/// `Optional` of any type.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  /// The wrapped value, one level down.
  var wrappedValue: Any? { get }
  /// Returns the access to a property that is stored as this type.
  static func access(to field: StoredField) -> FieldAccess
  /// Returns the access to a `lazy` property that is declared as this type.
  static func lazyAccess(to field: StoredField) -> FieldAccess
}

extension Optional: OptionalType {
  static var wrappedType: Any.Type { Wrapped.self }

  var wrappedValue: Any? { self.map { $0 as Any } }

  static func access(to field: StoredField) -> FieldAccess {
    if field.isLazy {
      return (Wrapped.self as? any OptionalType.Type)?.lazyAccess(to: field)
        ?? LazyAccess<Wrapped>(field.offset, .plain)
    }
    return field.ownership == .weak
      ? WeakAccess<Wrapped>(field.offset, .optional()) : DirectAccess<Wrapped?>(field.offset, .optional())
  }

  static func lazyAccess(to field: StoredField) -> FieldAccess { LazyAccess<Wrapped?>(field.offset, .optional()) }
}
