/// A type that a list or a map can be made into, element by element.
protocol CollectionType {
  /// What a key is; nil where there are none.
  static var key: Dependency? { get }
  /// What an element is.
  static var element: Dependency { get }
  /// The collection of parts: elements, or keys and elements in turn. nil where a part does not fit.
  static func assemble(_ parts: [Any]) -> Any?
}

extension CollectionType {
  static var key: Dependency? { nil }
}

extension Array: CollectionType {
  static var element: Dependency { Dependency.of(Element.self) }

  static func assemble(_ parts: [Any]) -> Any? {
    let elements = parts.compactMap { $0 as? Element }
    return elements.count == parts.count ? elements : nil
  }
}

extension Set: CollectionType {
  static var element: Dependency { Dependency.of(Element.self) }

  static func assemble(_ parts: [Any]) -> Any? {
    let elements = parts.compactMap { $0 as? Element }
    return elements.count == parts.count ? Set(elements) : nil
  }
}

extension Dictionary: CollectionType {
  static var key: Dependency? { Dependency.of(Key.self) }
  static var element: Dependency { Dependency.of(Value.self) }

  static func assemble(_ parts: [Any]) -> Any? {
    var entries: [Key: Value] = [:]
    for index in stride(from: 0, to: parts.count - 1, by: 2) {
      guard let key = parts[index] as? Key, let value = parts[index + 1] as? Value, entries[key] == nil else {
        return nil
      }
      entries[key] = value
    }
    return entries
  }
}

extension Optional: CollectionType where Wrapped: CollectionType {
  static var key: Dependency? { Wrapped.key }
  static var element: Dependency { Wrapped.element }
  static func assemble(_ parts: [Any]) -> Any? { Wrapped.assemble(parts) }
}
