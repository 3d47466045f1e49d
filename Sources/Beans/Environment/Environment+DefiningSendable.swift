/// The forms of `define` in one call for beans of types that are statically `Sendable`. The compiler selects them by itself,
/// as it selects `define(_:)` for such a declaration.
extension Environment {
  /// Defines a bean that is statically `Sendable`, built by constructor injection; selected by the compiler.
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
  public func define<T: Sendable, each D>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    factory: @escaping @Sendable (repeat each D) throws -> T, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line, factory: factory).with(options))
  }

  /// Defines a `Sendable` bean whose factory is asynchronous.
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
  public func define<T: Sendable, each D>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    async factory: @escaping @Sendable (repeat each D) async throws -> T,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line, async: factory).with(options))
  }

  /// Defines a `Sendable` bean built by `init()`.
  ///
  /// - Parameters:
  ///   - type: the bean's own class.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Initializable & Sendable>(
    _ type: T.Type, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(bean(type, id: id, file: file, line: line).with(options))
  }

  /// Defines an existing instance of a `Sendable` type as a bean, which is wired and released like any other.
  ///
  /// - Parameters:
  ///   - instance: the bean, of a class or a value type.
  ///   - id: the bean's id, unique in its environment.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - options: sets the options of the declaration.
  /// - Throws: as `define(_:)`.
  @discardableResult
  public func define<T: Sendable>(
    instance: T, id: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define((bean(instance, id: id, file: file, line: line) as TypedBeanDeclaration<T>).with(options))
  }

  /// Defines a bean of a `Sendable` type that is a section of the configuration.
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
  public func define<T: Decodable & Sendable>(
    _ type: T.Type, configuration prefix: String, id: String? = nil, rejectsUnknownKeys: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<T>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, id: id, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line).with(
        options))
  }

  /// Defines a section of the configuration that beans read at each use, so that they get the values of the latest reload:
  /// `define(ConfigurationValue<MailSettings>.self, configuration: "mail")`.
  ///
  /// Startup checks the section as that of an ordinary section bean. If a reload makes it invalid, an error is logged, and
  /// the last valid section stays.
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
  public func define<T: Decodable & Sendable>(
    _ type: ConfigurationValue<T>.Type, configuration prefix: String, id: String? = nil,
    rejectsUnknownKeys: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line, options: (TypedBeanDeclaration<ConfigurationValue<T>>) -> Void = { _ in }
  ) throws -> Self {
    try define(
      bean(type, configuration: prefix, id: id, rejectsUnknownKeys: rejectsUnknownKeys, file: file, line: line).with(
        options))
  }
}
