/// How the product of a `FactoryBean` is built: by asking the factory, which is a bean of its own.
struct FactoryProduct {
  let factory: any FactoryBean.Type
  let target: Any.Type
  let origin: EnvironmentError.Origin

  /// Takes the factory as its only argument.
  var constructor: BeanConstructor { constructor(factory) }

  /// Why the factory can never make the target; nil where it may, as far as types can tell.
  var fault: String? {
    if Dependency.isWrapper(target) { return "\(target) cannot be the target of a factory: it is not a bean's type" }
    return mayMake(factory) ? nil : "\(factory) makes a \(product(factory)), which is never a \(target)"
  }

  private func constructor<Factory: FactoryBean>(_ factory: Factory.Type) -> BeanConstructor {
    func open<Target>(_ target: Target.Type) -> BeanConstructor {
      BeanConstructor(target, [Dependency.of(factory)]) { [origin] arguments in
        var arguments = arguments
        let made = try arguments.take(as: Factory.self).create()
        if let product = made as? Target { return product }
        throw EnvironmentError(
          .typeMismatch, "\(Factory.self) made a \(type(of: made as Any)), not a \(target)", path: ["\(target)"],
          origin: origin)
      }
    }
    return _openExistential(target, do: open)
  }

  private func product<Factory: FactoryBean>(_ factory: Factory.Type) -> Any.Type { Factory.Product.self }

  private func mayMake<Factory: FactoryBean>(_ factory: Factory.Type) -> Bool {
    let product: Any.Type = Factory.Product.self
    if TypeRelation.isUsable(product, as: target) || TypeRelation.isUsable(target, as: product) { return true }
    // What a protocol type or an optional holds, and which protocols a subclass has, is known when it is there.
    if TypeRelation.isExistential(product) || Dependency.isWrapper(product) { return true }
    return product is AnyObject.Type && TypeRelation.isExistential(target)
  }
}
