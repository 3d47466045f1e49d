import BeansConfiguration

// The types of parameters, besides a bean's own type.

extension Optional: ParameterType {
  static var parameter: Parameter {
    let type = Wrapped.self
    let each = Parameter.wrapper(of: type)
    let kind: Parameter.Kind =
      type == ConfigurationManager.self
      ? .configuration : each?.refusal("an optional") { "Optional<\($0)>" } ?? .optional
    return Parameter(
      Wrapped?.self, element: each?.element ?? type, kind, isReference: type is AnyObject.Type, each: each,
      box: { beans in
        guard let bean = beans.first else { return ValueBox<Wrapped?>(nil) }
        return (bean as? Wrapped).map { ValueBox<Wrapped?>($0) }
      })
  }
}

extension Array: ParameterType {
  static var parameter: Parameter {
    let each = Parameter.wrapper(of: Element.self)
    return Parameter(
      [Element].self, element: each?.element ?? Element.self,
      each?.refusal("an array") { "Array<\($0)>" } ?? .all, each: each,
      isArrayOfObjects: each == nil && Element.self is AnyObject.Type, box: { ($0 as? [Element]).map { ValueBox($0) } })
  }
}

extension Set: ParameterType, CollectedType {
  static var parameter: Parameter {
    let each = Parameter.wrapper(of: Element.self)
    let type: any CollectedType.Type = Self.self
    return Parameter(
      Set<Element>.self, element: each?.element ?? Element.self,
      each?.refusal("a set") { "Set<\($0)>" } ?? .distinct, each: each,
      box: { type.box($0) })
  }

  static func box(_ beans: [Any]) -> AnyObject? { (beans as? [Element]).map { ValueBox(Set($0)) } }
}

extension Dictionary: ParameterType, CollectedType where Key == String {
  static var parameter: Parameter {
    let each = Parameter.wrapper(of: Value.self)
    return Parameter(
      [String: Value].self, element: each?.element ?? Value.self,
      each?.refusal("a dictionary") { "Dictionary<String, \($0)>" } ?? .named, each: each,
      box: { box($0) })
  }

  /// Takes ids and beans in turn.
  static func box(_ beans: [Any]) -> AnyObject? { (assemble(beans) as? Self).map { ValueBox($0) } }
}

extension Parameter {
  /// Returns the parameter of a type that requests more than a bean of the type itself; nil for a bean.
  fileprivate static func wrapper<Element>(of type: Element.Type) -> Parameter? {
    isWrapper(type) ? of(type) : nil
  }

  /// Returns the reason why this type is not injected inside a collection or an optional, and the type to write
  /// instead; nil where the type is one bean.
  ///
  /// A wrapper that looks its bean up at each call stores the type and the environment; inside a collection, it would
  /// have to identify each of several beans.
  fileprivate func refusal(_ name: String, around form: (Any.Type) -> String) -> Kind? {
    if isOfOneBean { return nil }
    let fault = "\(name) of \(wanted) cannot be injected"
    return switch kind {
    case .provider(let inner) where inner.isOfOneBean:
      .invalid(.notCollected, "\(fault): write Provider<\(form(inner.wanted))>")
    case .current(let inner) where inner.isOfOneBean:
      .invalid(.notCollected, "\(fault): write Current<\(form(inner.wanted))>")
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
