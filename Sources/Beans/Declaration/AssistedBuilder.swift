/// A builder of the declaration of a factory; see `Environment.bindFactory`.
public struct AssistedBuilder<Element, Tag: AssistedFactory> where Tag.Element == Element {
  private let location: SourceLocation

  /// The environment whose `bindFactory` began the declaration.
  private let receiver: ObjectIdentifier

  init(_ location: SourceLocation, receiver: ObjectIdentifier) { (self.location, self.receiver) = (location, receiver) }

  /// Names the tag, and with it the seed. A factory without this step has no seed.
  public func with<Other: AssistedFactory>(
    _ tag: Other.Type
  ) -> AssistedBuilder<Element, Other> where Other.Element == Element {
    AssistedBuilder<Element, Other>(location, receiver: receiver)
  }

  /// Declares the factory: each parameter of `factory` is resolved by its type, except `Assisted`, which is the seed.
  ///
  /// Define the result like any declaration. The indices of its `.argument` are those of the parameters of `factory`;
  /// its scope is the scope of the factory bean. Each call builds a new product.
  @inlinable @inline(__always)
  public func to<each D>(
    factory: @escaping @Sendable (repeat each D) throws -> Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    declare(Parameter.all(repeat (each D).self)) { arguments, seed in
      let taken = arguments.take(as: repeat (each D).self, or: seed)
      return try factory(repeat each taken)
    }
  }

  @usableFromInline
  func declare(
    _ parameters: [Parameter], _ create: @escaping @Sendable (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    // Describes the product; only the factory makes it.
    let product = FactoryFunction(Tag.Element.self, []) { _ in
      throw EnvironmentError(.invalidDeclaration, "\(Tag.Element.self) is built by a Factory<\(Tag.self)> only")
    }
    let function = FactoryFunction(Factory<Tag>.self, parameters, product: (Tag.Element.self, product)) {
      Factory<Tag>(builder: $0.take(as: (any ProductBuilder).self), create: create)
    }
    let spec = BeanSpec(type: Factory<Tag>.self, location: location, factory: function)
    let declaration = TypedBeanDeclaration<Factory<Tag>>(spec, madeBy: receiver)
    if let fault = fault(parameters) { declaration.note(fault: fault, .otherSeed) }
    return declaration
  }

  /// Returns the fault of the parameters, or nil if they are valid.
  private func fault(_ parameters: [Parameter]) -> String? {
    if Parameter.isWrapper(Tag.Element.self) {
      return "\(Tag.Element.self) is not a bean: optionals, arrays and the container's own types cannot be built"
    }
    let seeds = parameters.filter { if case .seed = $0.kind { true } else { false } }
    if seeds.count > 1 {
      return "\(seeds.count) parameters are Assisted, and there is one seed: make it a tuple or a structure"
    }
    if let seed = seeds.first {
      if seed.wanted == Assisted<Tag.Seed>.self { return nil }
      return "the factory takes an \(seed.wanted), but the seed of \(Tag.self) is a \(Tag.Seed.self)"
    }
    if Tag.Seed.self == Void.self { return nil }
    return "no parameter takes the seed of \(Tag.self): make one an Assisted<\(Tag.Seed.self)>"
  }
}
