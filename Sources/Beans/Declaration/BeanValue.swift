/// The source of the value of one property or parameter, as a declaration sets it.
///
/// Startup binds it once to the type of the property or parameter; a value that does not fit is a fault then. A list or
/// a map fits an array, a set or a dictionary, element by element.
public enum BeanValue {
  /// A value, converted to the type unless it has that type.
  indirect case value(Any)
  /// The bean with that id; `"&id"` is the factory behind a bean with a target.
  case reference(String)
  /// Text with `${placeholders}`, converted to the type after their replacement.
  case text(String)
  /// A bean declared in place, which is a bean of its own in the same environment. This case does not record whether
  /// its type is `Sendable`; `.property(_:bean:)` and `.argument(_:bean:)` do.
  case bean(BeanDeclaration)
  /// The bean of the property's or parameter's type.
  case byType
  /// The elements of an array or a set, in order.
  case list([BeanValue])
  /// The entries of a dictionary, in order; two entries with one key are a fault.
  case map([(key: BeanValue, value: BeanValue)])
  /// The value nil, for an optional.
  case null
  /// The text of an id. Startup checks that a bean has the id, and does not build it for this value.
  case id(String)
  /// A list or a map as the value of a property or an argument, added to the one that the nearest template sets there:
  /// the elements follow those of the template, the entries replace those with the same key.
  indirect case merged(BeanValue)
  /// Another value, with a place of its own for its faults, for a value that is not written in Swift.
  indirect case declared(BeanValue, at: EnvironmentError.Origin)

  /// The values directly inside this one, in order.
  var parts: [BeanValue] {
    switch self {
    case .list(let elements): elements
    case .map(let entries): entries.flatMap { [$0.key, $0.value] }
    case .declared(let value, _), .merged(let value): [value]
    case .value, .reference, .text, .bean, .byType, .null, .id: []
    }
  }

  /// The beans declared in place, at any depth of lists and maps.
  var embedded: [BeanDeclaration] {
    if case .bean(let declaration) = self { [declaration] } else { parts.flatMap(\.embedded) }
  }

  /// The place of the value; nil if that is the place of its bean's declaration.
  var origin: EnvironmentError.Origin? { if case .declared(_, let origin) = self { origin } else { nil } }

  /// Returns the value, with the module's name added to each place in it.
  func declared(in module: String) -> BeanValue {
    switch self {
    case .declared(let value, let origin): return .declared(value.declared(in: module), at: origin.declared(in: module))
    case .merged(let value): return .merged(value.declared(in: module))
    case .list(let elements): return .list(elements.map { $0.declared(in: module) })
    case .map(let entries): return .map(entries.map { ($0.key.declared(in: module), $0.value.declared(in: module)) })
    case .value, .reference, .text, .bean, .byType, .null, .id: return self
    }
  }
}
