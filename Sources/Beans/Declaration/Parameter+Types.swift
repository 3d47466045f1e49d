import BeansConfiguration

// What may stand as a parameter, besides a bean's own type.

extension Optional: ParameterType {
  static var parameter: Parameter {
    let type = Wrapped.self
    let kind: Parameter.Kind =
      type == ConfigurationManager.self
      ? .configuration
      : Parameter.isWrapper(type) ? .invalid("an optional of \(type) cannot be injected") : .optional
    return Parameter(
      Wrapped?.self, element: type, kind, isReference: type is AnyObject.Type,
      box: { beans in
        guard let bean = beans.first else { return ValueBox<Wrapped?>(nil) }
        return (bean as? Wrapped).map { ValueBox<Wrapped?>($0) }
      })
  }
}

extension Array: ParameterType {
  static var parameter: Parameter {
    let kind: Parameter.Kind =
      Parameter.isWrapper(Element.self) ? .invalid("an array of \(Element.self) cannot be injected") : .all
    return Parameter([Element].self, element: Element.self, kind, box: { ($0 as? [Element]).map { ValueBox($0) } })
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

extension Assisted: ParameterType {
  static var parameter: Parameter { Parameter(Assisted<Element>.self, element: Element.self, .seed) }
}

extension ConfigurationManager: ParameterType {
  static var parameter: Parameter {
    Parameter(ConfigurationManager.self, element: ConfigurationManager.self, .configuration)
  }
}

extension Environment: ParameterType {
  static var parameter: Parameter { Parameter(Environment.self, element: Environment.self, .environment) }
}
