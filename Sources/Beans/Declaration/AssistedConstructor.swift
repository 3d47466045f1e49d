/// How a product is made: what to call, with the beans and the seed.
///
/// Immutable; the user's closure has to be as thread-safe as the use of its factory.
@usableFromInline
final class AssistedConstructor<Tag: AssistedFactory>: @unchecked Sendable {
  @usableFromInline typealias Create = (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element

  /// One per parameter, in order, the seed included.
  let dependencies: [Dependency]
  /// Takes its arguments in the order of `dependencies`, without the seed.
  @usableFromInline let create: Create

  @usableFromInline
  init(_ dependencies: [Dependency], _ create: @escaping Create) {
    self.dependencies = dependencies
    self.create = create
  }

  /// The constructor of the factory bean.
  var factoryConstructor: BeanConstructor {
    BeanConstructor(
      dependencies: dependencies, product: Dependency.of(Factory<Tag>.self),
      identity: ObjectIdentifier(ValueBox<Factory<Tag>>.self),
      assembled: AssembledBean(type: Tag.Element.self, constructor: productConstructor)
    ) { arguments in
      var arguments = arguments
      return ValueBox(Factory(arguments.take(as: Assembly.self), self))
    }
  }

  /// Describes the product; what makes it is `create`.
  private var productConstructor: BeanConstructor {
    let type = Tag.Element.self
    let isClass = type is AnyObject.Type
    let identity: ObjectIdentifier? =
      isClass
      ? ObjectIdentifier(type)
      : TypeRelation.isExistential(type) ? nil : ObjectIdentifier(ValueBox<Tag.Element>.self)
    return BeanConstructor(
      dependencies: [], product: isClass ? nil : Dependency.of(type), identity: identity
    ) { _ in throw EnvironmentError(.invalidDeclaration, "\(type) is built by a Factory<\(Tag.self)> only") }
  }

  /// What is wrong with the parameters.
  var fault: String? {
    if Dependency.isWrapper(Tag.Element.self) {
      return "\(Tag.Element.self) is not a bean: optionals, arrays and the container's own types cannot be built"
    }
    let seeds = dependencies.filter { if case .assisted = $0.shape { true } else { false } }
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

/// What a factory bean makes.
@usableFromInline
struct AssembledBean {
  let type: Any.Type
  /// Says what the product is; never called.
  let constructor: BeanConstructor
}
