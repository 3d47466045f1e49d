/// Wrong arguments of `define` and `childFactory`. The compiler reports the messages, because nothing else fits such an argument.
extension Environment {
  /// Rejects a type without `init()` that has no factory.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable,
    message: "a type that is no Initializable class needs a factory: define(Foo.self, factory: Foo.init)"
  )
  @discardableResult
  public func define<T>(_ type: T.Type) throws -> Self { self }

  /// Rejects a type without `init()` that has options and no factory.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable,
    message: "a type that is no Initializable class needs a factory: define(Foo.self, factory: Foo.init)"
  )
  @discardableResult
  public func define<T>(_ type: T.Type, options: (TypedBeanDeclaration<T>) -> Void) throws -> Self { self }

  /// Rejects a factory without the type of its bean.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable, message: "a factory follows the type of its bean: define(Foo.self, factory: Foo.init)"
  )
  @discardableResult
  public func define<T, each D>(_ factory: (repeat each D) throws -> T) throws -> Self { self }

  /// Rejects a module.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(*, unavailable, message: "a module is included: include(Payments())")
  @discardableResult
  public func define(_ module: any BeanModule) throws -> Self { self }

  /// Rejects text.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable,
    message:
      "text declares nothing: define(Foo.self) { $0.id(\"x\") } sets an id, define(instance: \"x\") defines the text"
  )
  @discardableResult
  public func define(_ text: String) throws -> Self { self }

  /// Rejects an instance without its label.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(*, unavailable, message: "an instance has a label: define(instance: pool)")
  @_disfavoredOverload @discardableResult
  public func define<T>(_ instance: T) throws -> Self { self }

  /// Rejects a scope object that decides about beans at each lookup.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable,
    message:
      "a child keeps its beans, and does not ask its scope object for them: return a ChildScope, such as an AbstractBeanScope"
  )
  @_disfavoredOverload
  public func childFactory<Seed>(
    _ scope: String, seed: Seed.Type, scope makeScope: @escaping @Sendable () -> any BeanScope,
    configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    throw EnvironmentError(.invalidDeclaration, "a BeanScope cannot be the scope object of a child")
  }
}

extension EnvironmentFactory {
  /// Rejects a scope object that decides about beans at each lookup.
  ///
  /// - Throws: nothing, because such a call does not compile.
  @available(
    *, unavailable,
    message:
      "a child keeps its beans, and does not ask its scope object for them: return a ChildScope, such as an AbstractBeanScope"
  )
  @_disfavoredOverload
  public func childFactory<S>(
    _ scope: String, seed: S.Type, scope makeScope: @escaping @Sendable () -> any BeanScope,
    configure: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<S> {
    throw EnvironmentError(.invalidDeclaration, "a BeanScope cannot be the scope object of a child")
  }
}
