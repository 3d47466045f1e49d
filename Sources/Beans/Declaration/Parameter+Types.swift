import BeansConfiguration

// The types of parameters, besides a bean's own type.

extension Optional: ParameterType {
  static var parameter: Parameter {
    let type = Wrapped.self
    let each = Parameter.wrapper(of: type)
    let kind: Parameter.Kind =
      type == ConfigurationManager.self ? .configuration : each?.refusal("an optional", "Optional<") ?? .optional
    return Parameter(
      Wrapped?.self, element: each?.element ?? type, kind, isReference: type is AnyObject.Type, each: each,
      box: { beans in
        guard let bean = beans.first else { return ValueBox<Wrapped?>(nil) }
        return (bean as? Wrapped).map { ValueBox<Wrapped?>($0) }
      })
  }
}

extension Array: ParameterType {
  static var parameter: Parameter { Parameter([Element].self, of: Element.self, .all, "an array", "Array<") }
}

extension Set: ParameterType, CollectedType {
  static var parameter: Parameter { Parameter(Set<Element>.self, of: Element.self, .distinct, "a set", "Set<") }
}

extension Dictionary: ParameterType, CollectedType where Key == String {
  static var parameter: Parameter {
    Parameter([String: Value].self, of: Value.self, .named, "a dictionary", "Dictionary<String, ")
  }
}

extension Parameter {
  /// Creates the request of a collection of beans, which `name` and the beginning of its type describe in faults.
  fileprivate convenience init<Wanted: CollectionType, Element>(
    _ wanted: Wanted.Type, of type: Element.Type, _ kind: Kind, _ name: String, _ form: String
  ) {
    let each = Parameter.wrapper(of: type)
    let isArray = if case .all = kind { true } else { false }
    self.init(
      wanted, element: each?.element ?? type, each?.refusal(name, form) ?? kind, each: each,
      isArrayOfObjects: isArray && each == nil && type is AnyObject.Type,
      box: { Wanted.assemble($0).map { ValueBox($0) } })
  }

  /// Returns the parameter of a type that requests more than a bean of the type itself; nil for a bean.
  fileprivate static func wrapper<Element>(of type: Element.Type) -> Parameter? {
    isWrapper(type) ? of(type) : nil
  }

  /// Returns the reason why this type is not injected inside a collection or an optional, and the type to write
  /// instead; nil where the type is one bean.
  ///
  /// A wrapper that looks its bean up at each call stores the type and the environment; inside a collection, it would
  /// have to identify each of several beans.
  fileprivate func refusal(_ name: String, _ form: String) -> Kind? {
    if isOfOneBean { return nil }
    let fault = "\(name) of \(wanted) cannot be injected"
    return switch kind {
    case .provider(let inner) where inner.isOfOneBean:
      .invalid(.notCollected, "\(fault): write Provider<\(form)\(inner.wanted)>>")
    case .current(let inner) where inner.isOfOneBean:
      .invalid(.notCollected, "\(fault): write Current<\(form)\(inner.wanted)>>")
    default: .invalid(.notCollected, fault)
    }
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
    Parameter(ConfigurationManager.self, element: ConfigurationManager.self, .configuration)
  }
}
