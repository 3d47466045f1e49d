import BeansReflection
import BeansErrors

/// The choice of the factory that builds a bean: its declaration's, a template's, or the `init()` of its class.
extension FrozenSpec {
  /// Returns the factory of the declared bean. One that is set anywhere in the chain overrides the class's own `init()`.
  ///
  /// - Parameters:
  ///   - type: the class of the bean.
  ///   - templates: the templates of the declaration, nearest first.
  /// - Throws: the fault of the declaration if no factory makes the type.
  func chooseFactory(of type: Any.Type, _ templates: [FrozenSpec]) throws(EnvironmentError) -> FactoryFunction {
    if value.type == type, let factory = value.factory { return factory }
    let typed: FrozenSpec? = if value.type == nil { templates.first { $0.type != nil } } else { self }
    let maker: FrozenSpec? = if value.factory == nil { templates.first { $0.factory != nil } } else { self }
    // A value in a box of its type cannot be read as another type, and neither can an object as a box.
    if let factory = maker?.factory, let made = maker?.type,
      made == type || type is AnyObject.Type && TypeRelation.isUsable(made, as: type)
    {
      return factory
    }
    if let own = typed?.initializer { return own }
    if let maker {
      throw fault(
        .otherTemplateFactory, "the template's factory makes a \(maker.kind), not a \(type): give the bean its own")
    }
    throw fault(
      .noInitializer,
      "\(type) has no init() that the container can call: give a factory, conform to Initializable, "
        + "or inherit from a template that has a factory")
  }
}
