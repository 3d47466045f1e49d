/// A collection a declaration lists element by element, some of them beans.
struct Composition {
  /// Elements, or keys and elements in turn.
  let parts: [Edge]
  let type: any CollectionType.Type

  /// Whether no part is a bean.
  var isFixed: Bool { parts.allSatisfy { $0.value != nil } }

  /// The collection of fixed parts; nil where keys repeat.
  var fixed: Any? { type.assemble(parts.compactMap { $0.value?.any }) }
}

extension Edge {
  /// What is fixed already at startup.
  fileprivate var value: Argument? { if case .fixed(let argument) = source { argument } else { nil } }
}

extension Argument {
  /// The value, whatever its type; nil inside where there is no object.
  var any: Any {
    guard let object else { return Any?.none as Any }
    return Box.open(Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
  }
}
