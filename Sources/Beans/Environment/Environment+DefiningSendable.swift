/// The forms of `define` in one call for beans of types that are statically `Sendable`. The compiler selects them by itself,
/// as it selects `define(_:)` for such a declaration.
extension Environment {
  /// Defines a bean that is statically `Sendable`, built by constructor injection; selected by the compiler.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @inline(__always) @discardableResult
  public func define<T: Sendable, each D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (repeat each D) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, factory: factory).with(options))
  }

  /// Defines a `Sendable` bean whose factory is asynchronous; see `bean(_:async:)`.
  ///
  /// - Parameters:
  ///   - type: the bean's own type, a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - factory: makes an instance, on the first thread that needs the bean.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @inlinable @discardableResult
  public func define<T: Sendable, each D>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    async factory: @escaping @Sendable (repeat each D) async throws -> T,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line, async: factory).with(options))
  }

  /// Defines a `Sendable` bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own class.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Initializable & Sendable>(
    _ type: T.Type, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, file: file, line: line).with(options))
  }

  /// Defines an existing instance of a `Sendable` type as a bean, which is wired and released like any other.
  ///
  /// - Parameters:
  ///   - instance: the bean, of a class or a value type.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Sendable>(
    instance: T, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define((bean(instance, file: file, line: line) as TypedBeanDeclaration<T>).with(options))
  }

  /// Defines a bean that is a section of the configuration of a `Sendable` type; see `bean(_:configuration:)`.
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
  public func define<T: Decodable & Sendable>(
    _ type: T.Type, configuration prefix: String, rejectsUnknownKeys: Bool = false, file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line).with(options))
  }

  /// Defines a bean that is a section of the configuration that beans read at each use; see `bean(_:configuration:)`.
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
  public func define<T: Decodable & Sendable>(
    _ type: ConfigurationValue<T>.Type, configuration prefix: String, rejectsUnknownKeys: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<ConfigurationValue<T>>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line).with(options))
  }
}
