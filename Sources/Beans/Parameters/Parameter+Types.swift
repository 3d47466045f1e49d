import BeansConfiguration

// What may stand as a parameter, besides a bean's own type.

extension Optional: ParameterType {
  static var parameter: Parameter {
    let type = Wrapped.self
    let each = Parameter.wrapper(of: type)
    let kind: Parameter.Kind =
      type == ConfigurationManager.self
      ? .configuration : each?.isOfOneBean == false ? .invalid("an optional of \(type) cannot be injected") : .optional
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
    let isInvalid = each?.isOfOneBean == false
    return Parameter(
      [Element].self, element: each?.element ?? Element.self,
      isInvalid ? .invalid("an array of \(Element.self) cannot be injected") : .all, each: each,
      box: { ($0 as? [Element]).map { ValueBox($0) } })
  }
}

extension Set: ParameterType, CollectedType {
  static var parameter: Parameter {
    let each = Parameter.wrapper(of: Element.self)
    let isInvalid = each?.isOfOneBean == false
    let type: any CollectedType.Type = Self.self
    return Parameter(
      Set<Element>.self, element: each?.element ?? Element.self,
      isInvalid ? .invalid("a set of \(Element.self) cannot be injected") : .distinct, each: each,
      box: { type.box($0) })
  }

  static func box(_ beans: [Any]) -> AnyObject? { (beans as? [Element]).map { ValueBox(Set($0)) } }
}

extension Dictionary: ParameterType, CollectedType where Key == String {
  static var parameter: Parameter {
    let each = Parameter.wrapper(of: Value.self)
    let isInvalid = each?.isOfOneBean == false
    return Parameter(
      [String: Value].self, element: each?.element ?? Value.self,
      isInvalid ? .invalid("a dictionary of \(Value.self) cannot be injected") : .named, each: each,
      box: { box($0) })
  }

  /// Ids and beans in turn.
  static func box(_ beans: [Any]) -> AnyObject? { (assemble(beans) as? Self).map { ValueBox($0) } }
}

extension Parameter {
  /// What asks for more than a bean of the type itself; nil where a bean is asked for.
  fileprivate static func wrapper<Element>(of type: Element.Type) -> Parameter? {
    isWrapper(type) ? of(type) : nil
  }
}

extension Provider: ParameterType {
  static var parameter: Parameter {
    let provided = Parameter.of(T.self)
    return Parameter(
      Provider<T>.self, element: provided.element, .provider(provided),
      makeProvider: { ValueBox(Provider<T>(lookup: $0, id: $1)) })
  }
}

extension ConfigurationManager: ParameterType {
  static var parameter: Parameter {
    Parameter(ConfigurationManager.self, element: ConfigurationManager.self, .configuration)
  }
}

extension Environment: ParameterType {
  static var parameter: Parameter { Parameter(Environment.self, element: Environment.self, .environment) }
}
