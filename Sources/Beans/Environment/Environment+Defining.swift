/// Declares and defines in one call: `define(Foo.self, factory: Foo.init)` equals
/// `define(bean(Foo.self, factory: Foo.init))`.
///
/// The options of a declaration are methods of the argument of the trailing closure: `{ $0.id("x").lazy() }`. A declaration
/// that `define` returned could not have them: `define` copies the declaration, and later changes have no effect. As in the
/// long form, there are two forms each, and the compiler selects the one for types that are statically `Sendable`.
extension Environment {
  /// Defines a bean built by constructor injection: each parameter of `factory` is resolved by its type.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, each D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (repeat each D) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with no parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable () throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with one parameter; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with two parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A, B>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with three parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A, B, C>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B, C) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with four parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A, B, C, D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B, C, D) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with five parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A, B, C, D, E>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B, C, D, E) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean built by a factory with six parameters; see the form for any number of them.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T, A, B, C, D, E, F>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (A, B, C, D, E, F) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory), options)
  }

  /// Defines a bean whose factory is asynchronous; see `bean(_:async:)`.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @discardableResult
  public func define<T, each D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    async factory: @escaping @Sendable (repeat each D) async throws -> T,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, async: factory), options)
  }

  /// Defines a bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own class.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Initializable>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line), options)
  }

  /// Defines an existing instance as a bean, which is wired and released like any other.
  ///
  /// - Parameters:
  ///   - instance: the bean, of a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T>(
    instance: T, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(instance, file: file, line: line) as TypedBeanDeclaration<T>, options)
  }

  /// Defines a bean that is a section of the configuration; see `bean(_:configuration:)`.
  ///
  /// - Parameters:
  ///   - type: the type of the section, and of the bean.
  ///   - prefix: the section, `key` or `namespace:key`; empty for all keys without a namespace.
  ///   - rejectsUnknownKeys: whether a value below the prefix that belongs to no property is a fault.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Decodable>(
    _ type: T.Type, configuration prefix: String, rejectsUnknownKeys: Bool = false, file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line), options)
  }

  @inlinable @inline(__always)
  func define<T>(
    _ declaration: TypedBeanDeclaration<T>, _ options: (TypedBeanDeclaration<T>) -> Void
  ) throws -> Self {
    options(declaration)
    return try define(declaration)
  }
}
