import BeansReflection

extension Reading {
  /// How a bean is read as what a parameter asks for; nil where a value of another type has to be made of it.
  ///
  /// - Parameters:
  ///   - parameter: what is asked for.
  ///   - type: the declared type of the bean.
  ///   - isClass: whether that is a class.
  ///   - identity: the class of what the bean's slot holds, where startup can know it.
  init?(_ parameter: Parameter, of type: Any.Type, isClass: Bool, _ identity: ObjectIdentifier?) {
    if parameter.isReference, isClass {
      self = .reference
    } else if type == parameter.wanted {
      // A struct or existential looked up as exactly the type it is declared with stands in its box already.
      self = .boxed
    } else if case .one = parameter.kind, isClass, let identity,
      let layout = ExistentialLayout.of(parameter.wanted, for: identity)
    {
      self.init(layout)
    } else {
      return nil
    }
  }
}
