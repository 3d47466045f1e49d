/// `Optional`, whatever it wraps.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  /// The value inside, one level down.
  var wrappedValue: Any? { get }
  /// How a property stored as this type is accessed.
  static func access(to field: StoredField) -> FieldAccess
  /// How a `lazy` property declared as this type is accessed.
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
