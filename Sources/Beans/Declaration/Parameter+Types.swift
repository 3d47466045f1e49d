import BeansConfiguration

// The types of parameters, besides a bean's own type.

extension Optional: ParameterType {
  static var parameter: Parameter {
    let type = Wrapped.self
    let each = Parameter.wrapper(of: type)
    let kind: Parameter.Kind =
      type == ConfigurationManager.self ? .part(.configuration) : each?.refusal("an optional", "Optional<") ?? .optional
    return Parameter(Wrapped?.self, element: each?.element ?? type, kind, each: each)
  }
}

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

extension Array: ParameterType, CollectionType {
  static var parameter: Parameter {
    Parameter([Element].self, of: Element.self, .all, "an array", "Array<", array: [Element].self)
  }
  static var element: Parameter { Parameter.of(Element.self) }
  static func assemble(_ parts: [Any]) -> [Element]? { parts as? [Element] }
}

extension Set: CollectedType, CollectionType {
  static var parameter: Parameter { Parameter(Set<Element>.self, of: Element.self, .distinct, "a set", "Set<") }
  static var element: Parameter { Parameter.of(Element.self) }
  static func assemble(_ parts: [Any]) -> Set<Element>? { (parts as? [Element]).map { Set($0) } }
}

extension Dictionary: ParameterType, CollectedType where Key == String {
  static var parameter: Parameter {
    Parameter([String: Value].self, of: Value.self, .named, "a dictionary", "Dictionary<String, ")
  }
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

extension Parameter {
  /// Creates the request of a collection of beans, which `name` and the beginning of its type describe in faults.
  fileprivate convenience init<Wanted: CollectionType, Element>(
    _ wanted: Wanted.Type, of type: Element.Type, _ kind: Kind, _ name: String, _ form: String,
    array: (any AssembledType.Type)? = nil
  ) {
    let each = Parameter.wrapper(of: type)
    self.init(
      wanted, element: each?.element ?? type, each?.refusal(name, form) ?? kind, each: each, array: array,
      wrap: { Wanted.assemble($0.beans).map { ValueBox($0) } })
  }

  /// Returns the parameter of a type that requests more than a bean of the type itself; nil for a bean.
  fileprivate static func wrapper<Element>(of type: Element.Type) -> Parameter? {
    if isWrapper(type) { of(type) } else { nil }
  }

  /// Returns the reason why this type is not injected inside a collection or an optional, and the type to write
  /// instead; nil where the type is one bean.
  ///
  /// A wrapper that looks its bean up at each call stores the type and the environment; inside a collection, it would
  /// have to identify each of several beans.
  fileprivate func refusal(_ name: String, _ form: String) -> Kind? {
    if isOfOneBean { return nil }
    var fault = "\(name) of \(wanted) cannot be injected"
    switch kind {
    case .provider(let inner) where inner.isOfOneBean: fault += ": write Provider<\(form)\(inner.wanted)>>"
    case .current(let inner) where inner.isOfOneBean: fault += ": write Current<\(form)\(inner.wanted)>>"
    default: break
    }
    return .invalid(.notCollected, fault)
  }
}

extension Provider: ParameterType {
  static var parameter: Parameter {
    let provided = Parameter.of(T.self)
    return Parameter(
      Provider<T>.self, element: provided.element, .provider(provided),
      wrap: { if case .lookup(let lookup, let id) = $0 { ValueBox(Provider<T>(lookup: lookup, id: id)) } else { nil } })
  }
}

extension ConfigurationManager: ParameterType {
  static var parameter: Parameter {
    Parameter(ConfigurationManager.self, element: ConfigurationManager.self, .part(.configuration))
  }
}
