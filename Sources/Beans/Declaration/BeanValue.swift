/// What a declaration says about one property or parameter: where the value comes from.
///
/// Startup settles it once against the type of the property or parameter; what does not fit is a fault then. A list or
/// a map fits an array, a set or a dictionary, element by element.
public enum BeanValue {
  /// A value, converted to the type where it is not of it already.
  indirect case value(Any)
  /// The bean with that id; `"&id"` is the factory behind a bean with a target.
  case reference(String)
  /// Text with `${placeholders}`, converted to the type once they have been replaced.
  case text(String)
  /// A bean declared in place. It is a bean of its own in the same environment.
  case bean(BeanDeclaration)
  /// The bean of the type, or the one with the injection's id.
  case inject(InjectBean)
  /// The elements of an array or a set, in order.
  case list([BeanValue])
  /// The entries of a dictionary, in order; two entries with one key are a fault.
  case map([(key: BeanValue, value: BeanValue)])
  /// nil, for an optional.
  case null

  /// The beans declared in place, at any depth of lists and maps.
  func collectEmbedded(_ found: inout [BeanDeclaration]) {
    switch self {
    case .bean(let declaration): found.append(declaration)
    case .list(let elements):
      for element in elements { element.collectEmbedded(&found) }
    case .map(let entries):
      for entry in entries {
        entry.key.collectEmbedded(&found)
        entry.value.collectEmbedded(&found)
      }
    case .value, .reference, .text, .inject, .null: break
    }
  }
}
