/// Constructor injection.
extension Environment {
  /// Declares a bean built by constructor injection: each parameter of `factory` is resolved by its type.
  ///
  /// A parameter may be a bean's type, a superclass or protocol of it, `T?`, `[T]`, `Provider<T>`, `Environment`, or
  /// the seed of an enclosing factory. `.argument` overrides a parameter by its index.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the first lookup builds the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  @inlinable @inline(__always)
  public func bean<T, each D>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, factory: @escaping @Sendable (repeat each D) throws -> T
  ) -> TypedBeanDeclaration<T> {
    declare(id, parent, lazy, abstract, file, line, repeat (each D).self) { arguments in
      let taken = arguments.take(as: repeat (each D).self)
      return try factory(repeat each taken)
    }
  }

  /// Declares a bean whose factory is asynchronous; see `define(_:async:)`.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - parent: the id of the declaration that this one inherits from.
  ///   - lazy: whether the first lookup creates the bean, instead of startup.
  ///   - abstract: whether the declaration is a template only.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on no particular thread.
  @inlinable
  package func bean<T, each D>(
    _ type: T.Type, id: String? = nil, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString = #fileID, line: UInt = #line,
    async factory: @escaping @Sendable (repeat each D) async throws -> T
  ) -> TypedBeanDeclaration<T> {
    let parameters = Parameter.all(repeat (each D).self)
    let function = FactoryFunction(awaiting: T.self, parameters) { arguments in
      let taken = arguments.take(as: repeat (each D).self)
      return { try await factory(repeat each taken) }
    }
    return declaration(of: T.self, id, parent, lazy, abstract, SourceLocation(file: file, line: line), function)
  }

  /// Declares a decorator: it wraps each bean that a lookup or parameter of exactly this type resolves to.
  ///
  ///     environment.decorate((any Store).self) { (inner: any Store, metrics: Metrics) in CountingStore(inner, metrics) }
  ///
  /// `T`, `T?`, `[T]`, `Provider<T>` and lookups by `T` and an id get the result of `factory`; another type gets the
  /// bean itself. Several decorators nest: the one that is defined first is innermost. A child environment may decorate
  /// a bean of an ancestor, for itself and its own children.
  ///
  /// A decorator is a bean: it lives as long as the decorated bean, or as the environment that declares the decorator
  /// where that is shorter. It is built after the decorated bean and released before it. A decorator without a bean to
  /// decorate is a fault at startup (`.unknownBean`).
  ///
  /// - Parameters:
  ///   - type: the type that is decorated: a class, a value type or a protocol.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: takes the bean, or the next inner decorator, then any other dependencies, each resolved by its type.
  @inlinable @inline(__always)
  public func decorate<T, each D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (T, repeat each D) throws -> T
  ) -> TypedBeanDeclaration<T> {
    declare(nil, nil, false, false, file, line, type, repeat (each D).self) { arguments in
      let inner = arguments.take(as: T.self)
      let others = arguments.withoutFirst.take(as: repeat (each D).self)
      return try factory(inner, repeat each others)
    }.decorating()
  }

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
  /// The bean is the `Factory`, not the product: the product's type may also have a plain declaration. An environment
  /// takes one binding for each tag.
  ///
  /// - Parameters:
  ///   - type: the type of the products.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  public func bindFactory<Element>(
    _ type: Element.Type, file: StaticString = #fileID, line: UInt = #line
  ) -> AssistedBuilder<Element, EmptySeed<Element>> {
    AssistedBuilder(SourceLocation(file: file, line: line), receiver: ObjectIdentifier(self))
  }

  /// Inlined into the module that declares the bean, so that `make` is compiled for its concrete types.
  @inlinable @inline(__always)
  func declare<T, each D>(
    _ id: String?, _ parent: String?, _ lazy: Bool, _ abstract: Bool, _ file: StaticString, _ line: UInt,
    _ types: repeat (each D).Type, make: @escaping @Sendable (Arguments) throws -> T
  ) -> TypedBeanDeclaration<T> {
    let function = FactoryFunction(T.self, Parameter.all(repeat each types), make)
    // Not the type that the caller passed: that may be a subclass, while the factory returns `T`.
    return declaration(of: T.self, id, parent, lazy, abstract, SourceLocation(file: file, line: line), function)
  }

  /// Creates the declaration. Compiled for all types at once: the code for a concrete type would instantiate the class of
  /// the declaration by its mangled name, which takes the runtime three times as long.
  @usableFromInline
  func declaration<T>(
    of type: T.Type, _ id: String?, _ parent: String?, _ lazy: Bool, _ abstract: Bool, _ location: SourceLocation,
    _ factory: FactoryFunction
  ) -> TypedBeanDeclaration<T> {
    TypedBeanDeclaration<T>(type, id, parent, lazy, abstract, location, factory, madeBy: ObjectIdentifier(self))
  }
}
