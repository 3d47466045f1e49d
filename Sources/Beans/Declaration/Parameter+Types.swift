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
      wanted: Wrapped?.self, element: type, kind: kind, isReference: type is AnyObject.Type,
      box: { beans in
        guard let bean = beans.first else { return ValueBox<Wrapped?>(nil) }
        return (bean as? Wrapped).map { ValueBox<Wrapped?>($0) }
      },
      given: { value in (value as? Wrapped?).map { ValueBox<Wrapped?>($0) } })
  }
}

extension Array: ParameterType {
  static var parameter: Parameter {
    let kind: Parameter.Kind =
      Parameter.isWrapper(Element.self) ? .invalid("an array of \(Element.self) cannot be injected") : .all
    return Parameter(
      wanted: [Element].self, element: Element.self, kind: kind,
      box: { ($0 as? [Element]).map { ValueBox($0) } }, given: { ($0 as? [Element]).map { ValueBox($0) } })
  }
}

extension Provider: ParameterType {
  static var parameter: Parameter {
    let provided = Parameter.of(T.self)
    return Parameter(
      wanted: Provider<T>.self, element: provided.element, kind: .provider(provided),
      given: { ($0 as? Provider<T>).map { ValueBox($0) } },
      makeProvider: { ValueBox(Provider<T>(lookup: $0, id: $1)) })
  }
}

extension Assisted: ParameterType {
  static var parameter: Parameter { Parameter(wanted: Assisted<Element>.self, element: Element.self, kind: .seed) }
}

extension ConfigurationManager: ParameterType {
  static var parameter: Parameter {
    Parameter(
      wanted: ConfigurationManager.self, element: ConfigurationManager.self, kind: .configuration, isReference: true,
      given: { $0 as? ConfigurationManager })
  }
}

extension Environment: ParameterType {
  static var parameter: Parameter {
    Parameter(
      wanted: Environment.self, element: Environment.self, kind: .environment, isReference: true,
      given: { $0 as? Environment })
  }
}
