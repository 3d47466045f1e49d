/// A collection a declaration lists element by element, at least one of them a bean: put together for each owner.
struct Composition {
  /// Elements, or keys and elements in turn.
  let parts: [Edge]
  let type: any CollectionType.Type
}

extension Argument {
  /// The value, whatever its type; nil inside where there is no object.
  var any: Any {
    guard let object else { return Any?.none as Any }
    return Box.open(Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
  }
}
