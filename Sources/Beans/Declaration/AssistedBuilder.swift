extension Environment {
  /// Begins the declaration of a factory whose products are built from a seed and from beans.
  ///
  ///     try environment.define(
  ///       environment
  ///         .bindFactory(CustomerDetailViewController.self)
  ///         .with(CustomerDetailViewController.AssistedSeed.self)
  ///         .to { (seed: Assisted<String>, customerService: CustomerService) in
  ///           CustomerDetailViewController(customerID: seed.get(), customerService: customerService)
  ///         })
  ///
  /// The bean is the `Factory`, not the product: a plain declaration of the product's type may stand beside it. An
  /// environment takes one binding per tag.
  public func bindFactory<Element>(
    _ type: Element.Type, file: StaticString = #fileID, line: UInt = #line
  ) -> AssistedBuilder<Element, EmptySeed<Element>> {
    AssistedBuilder(file: file, line: line)
  }
}

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
  public func to<each D>(factory: @escaping (repeat each D) throws -> Element) -> TypedBeanDeclaration<Factory<Tag>> {
    var dependencies: [Dependency] = []
    repeat dependencies.append(Dependency.of((each D).self))
    return declare(dependencies) { arguments, seed in
      var arguments = arguments
      return try factory(repeat arguments.take(as: (each D).self, or: seed))
    }
  }

  @usableFromInline
  func declare(
    _ dependencies: [Dependency], _ create: @escaping AssistedConstructor<Tag>.Create
  ) -> TypedBeanDeclaration<Factory<Tag>> {
    let constructor = AssistedConstructor<Tag>(dependencies, create)
    let declaration = TypedBeanDeclaration<Factory<Tag>>(type: Factory<Tag>.self, id: nil, file: file, line: line)
    declaration.constructor = constructor.factoryConstructor
    declaration.fault = constructor.fault
    return declaration
  }
}
