/// A factory on its way to becoming a declaration; see `Environment.bindFactory`.
public struct AssistedBuilder<Element, Tag: AssistedFactory> where Tag.Element == Element {
  private let file: StaticString
  private let line: UInt

  init(file: StaticString, line: UInt) {
    self.file = file
    self.line = line
  }

  /// Names the tag, and with it the seed. Without this step there is no seed.
  public func with<Other: AssistedFactory>(
    _ tag: Other.Type
  ) -> AssistedBuilder<Element, Other> where Other.Element == Element {
    AssistedBuilder<Element, Other>(file: file, line: line)
  }

  /// Declares the factory: each parameter of `factory` is resolved by its type, except `Assisted`, which is the seed.
  ///
  /// The result is to be defined like any declaration. Its `.argument` counts the parameters of `factory`; its scope is
  /// the one the factory lives in. A product is new each time.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public func to<each D>(factory: @escaping @Sendable (repeat each D) throws -> Element) -> TypedBeanDeclaration<
    Factory<Tag>
  > {
    var parameters: [Parameter] = []
    repeat parameters.append(Parameter.of((each D).self))
    return declare(parameters) { arguments, seed in
      var arguments = arguments
      return try factory(repeat arguments.take(as: (each D).self, or: seed))
    }
  }

  @usableFromInline
  func declare(
    _ parameters: [Parameter], _ create: @escaping @Sendable (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    let product = FactoryFunction.Product(type: Tag.Element.self, function: Self.product)
    let function = FactoryFunction(
      parameters: parameters, boxed: Parameter.of(Factory<Tag>.self),
      identity: ObjectIdentifier(ValueBox<Factory<Tag>>.self), product: product
    ) { arguments in
      var arguments = arguments
      return ValueBox(Factory<Tag>(arguments.take(as: BuilderOfProducts.self).builder, create))
    }
    let declaration = TypedBeanDeclaration<Factory<Tag>>(
      type: Factory<Tag>.self, id: nil, location: SourceLocation(file: file, line: line))
    declaration.set { $0.factory = function }
    if let fault = fault(parameters) { declaration.note(fault: fault) }
    return declaration
  }

  /// Describes the product; what makes it is the factory.
  private static var product: FactoryFunction {
    let type = Tag.Element.self
    let isClass = type is AnyObject.Type
    let identity: ObjectIdentifier? =
      isClass
      ? ObjectIdentifier(type)
      : FactoryFunction.isExistential(type) ? nil : ObjectIdentifier(ValueBox<Tag.Element>.self)
    return FactoryFunction(parameters: [], boxed: isClass ? nil : Parameter.of(type), identity: identity) { _ in
      throw EnvironmentError(.invalidDeclaration, "\(Tag.Element.self) is built by a Factory<\(Tag.self)> only")
    }
  }

  /// What is wrong with the parameters.
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

/// Hands a `ProductBuilder` to a factory bean, as an argument.
final class BuilderOfProducts: Sendable {
  let builder: any ProductBuilder

  init(_ builder: any ProductBuilder) { self.builder = builder }
}
