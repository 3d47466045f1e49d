/// Declares and defines in one call: `define(Foo.self, factory: Foo.init)` equals
/// `define(bean(Foo.self, factory: Foo.init))`.
///
/// The options of a declaration are methods of the argument of the trailing closure: `{ $0.primary().lazy() }`. A declaration
/// that `define` returned could not have them: `define` copies the declaration, and later changes have no effect. As in the
/// long form, there are two forms each, and the compiler selects the one for types that are statically `Sendable`.
extension Environment {
  /// Defines a bean built by constructor injection: each parameter of `factory` is resolved by its type.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, each D>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (repeat each D) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line, factory: factory).with(options))
  }

  /// Defines a bean whose factory is asynchronous: each of its parameters is resolved by its type.
  ///
  /// `ready()` awaits the bean, after its dependencies and before the beans that depend on it; `getBean(awaiting:)` awaits a
  /// bean of a factory's children. Until the bean exists, a lookup that needs it throws `.notReady`. A prototype cannot
  /// have an asynchronous factory.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @discardableResult
  public func define<T, each D>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    async factory: @escaping @Sendable (repeat each D) async throws -> T,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line, async: factory).with(options))
  }

  /// Defines a bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own class.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Initializable>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line).with(options))
  }

  /// Defines an existing instance as a bean, which is wired and released like any other.
  ///
  /// - Parameters:
  ///   - instance: the bean, of a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T>(
    instance: T, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define((bean(instance, id: id, file: file, line: line) as TypedBeanDeclaration<T>).with(options))
  }

  /// Defines a bean that is a section of the configuration: `define(MailSettings.self, configuration: "mail")`.
  ///
  /// Startup reads the section before any bean is built, as `ConfigurationManager.getConfiguration(_:prefix:)` does. Each
  /// missing, faulty or unknown value is a fault of startup, reported with all others.
  ///
  /// - Parameters:
  ///   - type: the type of the section, and of the bean.
  ///   - prefix: the section, `key` or `namespace:key`; empty for all keys without a namespace.
  ///   - id: the bean's id, unique in its environment.
  ///   - rejectsUnknownKeys: whether a value below the prefix that belongs to no property is a fault.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Decodable>(
    _ type: T.Type, configuration prefix: String, id: String? = nil, rejectsUnknownKeys: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, id: id, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line).with(
        options))
  }
}

/// Wrong arguments of `define` and `childFactory`. The compiler reports the messages, because nothing else fits such an
/// argument.
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
    _ scope: String, seed: Seed.Type, configure: (Environment) throws -> Void = { _ in },
    scope makeScope: @escaping @Sendable () -> any BeanScope
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
    _ scope: String, seed: S.Type, configure: (Environment) throws -> Void = { _ in },
    scope makeScope: @escaping @Sendable () -> any BeanScope
  ) throws -> EnvironmentFactory<S> {
    throw EnvironmentError(.invalidDeclaration, "a BeanScope cannot be the scope object of a child")
  }
}
