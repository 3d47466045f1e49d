import BeansReflection

extension Reading {
  /// Creates the reading of a bean as the type of a parameter; nil where a value of another type must be made from the
  /// bean.
  ///
  /// - Parameters:
  ///   - parameter: the requesting parameter.
  ///   - type: the declared type of the bean.
  ///   - isClass: whether that type is a class.
  ///   - identity: the class of the object in the bean's slot, where startup can know it.
  init?(_ parameter: Parameter, of type: Any.Type, isClass: Bool, _ identity: ObjectIdentifier?) {
    if parameter.isReference, isClass {
      self = .reference
    } else if type == parameter.wanted {
      // The box of a struct or existential has exactly the declared type, which is the wanted one.
      self = .boxed
    } else if case .one = parameter.kind, isClass, let identity,
      let layout = ExistentialLayout.of(parameter.element, for: identity)
    {
      self.init(layout)
    } else {
      return nil
    }
  }
}
