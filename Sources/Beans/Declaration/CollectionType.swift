/// A collection of beans, or a type into which a list or a map is converted, element by element.
protocol CollectionType: SendableMetatype {
  /// The parameter of a key; nil for a collection without keys.
  static var key: Parameter? { get }
  /// The parameter of an element.
  static var element: Parameter { get }
  /// Returns the collection of parts: elements, or keys and elements in turn; nil where a part does not fit.
  static func assemble(_ parts: [Any]) -> Self?
}

extension CollectionType {
  static var key: Parameter? { nil }
}

extension Array: CollectionType {
  static var element: Parameter { Parameter.of(Element.self) }
  static func assemble(_ parts: [Any]) -> [Element]? { parts as? [Element] }
}

extension Set: CollectionType {
  static var element: Parameter { Parameter.of(Element.self) }
  static func assemble(_ parts: [Any]) -> Set<Element>? { (parts as? [Element]).map { Set($0) } }
}

extension Dictionary: CollectionType {
  static var key: Parameter? { Parameter.of(Key.self) }
  static var element: Parameter { Parameter.of(Value.self) }

  static func assemble(_ parts: [Any]) -> [Key: Value]? {
    var entries = [Key: Value]()
    for index in stride(from: 0, to: parts.count - 1, by: 2) {
      guard let key = parts[index] as? Key, let value = parts[index + 1] as? Value,
        entries.updateValue(value, forKey: key) == nil
      else { return nil }
    }
    return entries
  }
}

extension Optional: CollectionType where Wrapped: CollectionType {
  static var key: Parameter? { Wrapped.key }
  static var element: Parameter { Wrapped.element }
  static func assemble(_ parts: [Any]) -> Wrapped?? { Wrapped.assemble(parts).map { .some($0) } }
}
