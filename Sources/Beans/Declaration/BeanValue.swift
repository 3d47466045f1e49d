/// What a declaration says about one property or parameter: where the value comes from.
///
/// Startup binds it once to the type of the property or parameter; what does not fit is a fault then. A list or a map fits
/// an array, a set or a dictionary, element by element.
public enum BeanValue {
  /// A value, converted to the type where it is not of it already.
  indirect case value(Any)
  /// The bean with that id; `"&id"` is the factory behind a bean with a target.
  case reference(String)
  /// Text with `${placeholders}`, converted to the type once they have been replaced.
  case text(String)
  /// A bean declared in place. It is a bean of its own in the same environment. Whether its type is `Sendable` is not known
  /// from this; `.property(_:bean:)` and `.argument(_:bean:)` know it.
  case bean(BeanDeclaration)
  /// The bean of the type, or the one with the injection's id.
  case inject(InjectBean)
  /// The elements of an array or a set, in order.
  case list([BeanValue])
  /// The entries of a dictionary, in order; two entries with one key are a fault.
  case map([(key: BeanValue, value: BeanValue)])
  /// nil, for an optional.
  case null
  /// Another value, whose faults stand at that place and not at the bean's, for one that is not written in Swift.
  indirect case declared(BeanValue, at: EnvironmentError.Origin)

  /// The beans declared in place, at any depth of lists and maps.
  var embedded: [BeanDeclaration] {
    switch self {
    case .bean(let declaration): [declaration]
    case .list(let elements): elements.flatMap(\.embedded)
    case .map(let entries): entries.flatMap { $0.key.embedded + $0.value.embedded }
    case .declared(let value, _): value.embedded
    case .value, .reference, .text, .inject, .null: []
    }
  }

  /// Where the value is written, unless that is where its bean is declared.
  var origin: EnvironmentError.Origin? { if case .declared(_, let origin) = self { origin } else { nil } }

  /// The value, with the module's name at each place that it tells.
  func declared(in module: String) -> BeanValue {
    switch self {
    case .declared(let value, let origin): return .declared(value.declared(in: module), at: origin.declared(in: module))
    case .list(let elements): return .list(elements.map { $0.declared(in: module) })
    case .map(let entries): return .map(entries.map { ($0.key.declared(in: module), $0.value.declared(in: module)) })
    case .value, .reference, .text, .bean, .inject, .null: return self
    }
  }
}
