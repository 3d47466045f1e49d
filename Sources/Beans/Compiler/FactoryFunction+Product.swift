import BeansErrors
import BeansReflection

/// The factory function of the product of a `FactoryBean`: calls the factory, which is a bean of its own.
extension FactoryFunction {
  /// Returns a factory function whose only argument is the factory bean.
  static func product<Factory: FactoryBean>(
    of factory: Factory.Type, as target: Any.Type, at origin: EnvironmentError.Origin
  ) -> FactoryFunction {
    func open<Target>(_ target: Target.Type) -> FactoryFunction {
      FactoryFunction(target, [Parameter.of(factory)]) { arguments in
        let made = try arguments.take(as: Factory.self).create()
        if let product = made as? Target { return product }
        throw EnvironmentError(
          cause: .otherProduct, "\(Factory.self) made a \(type(of: made as Any)), not a \(target)",
          path: ["\(target)"], origin: origin)
      }
    }
    return open(target)
  }

  /// The substitute for a missing factory. Nothing is built from an erroneous declaration.
  static let unknown = FactoryFunction(parameters: []) { _ in
    throw EnvironmentError(.invalidDeclaration, "a bean of a faulty declaration is built")
  }

  /// Returns the type of a factory's products.
  static func product<Factory: FactoryBean>(of factory: Factory.Type) -> Any.Type { Factory.Product.self }

  /// Returns the reason why a factory can never make the target; nil if it may, as far as types are known.
  static func fault(of factory: any FactoryBean.Type, making target: Any.Type) -> String? {
    if Parameter.isWrapper(target) { return "\(target) cannot be the target of a factory: it is not a bean's type" }
    let made = product(of: factory)
    if TypeRelation.isUsable(made, as: target) || TypeRelation.isUsable(target, as: made) { return nil }
    // The value of a protocol type or optional, and the protocols of a subclass, are known only at run time.
    if TypeRelation.isExistential(made) || Parameter.isWrapper(made) { return nil }
    if made is AnyObject.Type && TypeRelation.isExistential(target) { return nil }
    return "\(factory) makes a \(made), which is never a \(target)"
  }
}
