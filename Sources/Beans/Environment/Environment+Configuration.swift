public import BeansConfiguration

extension Environment {
  /// The configuration: the values of this environment, then those of its ancestors. Children of one factory share one
  /// configuration.
  ///
  /// A bean can take the configuration as a parameter. Sources that are beans are part of the configuration from
  /// startup on. Safe to read from any thread.
  public var configurationManager: ConfigurationManager { configuration }

  /// The conversions: those registered here, those of the ancestors, and the standard ones. Safe to read from any
  /// thread.
  package var conversionFactory: StandardConversionFactory { configuration.conversions }

  /// The profiles that decide conditions of declarations here: the configuration value `beans.profiles` or
  /// `BEANS_PROFILES`, else "default". In alphabetical order, without duplicates.
  ///
  /// Reads the current configuration; startup has evaluated the conditions once. Safe to read from any thread.
  ///
  /// - Throws: `.noConversion` or `.conversionFailed` for a value that is neither text nor a list of texts.
  package var activeProfiles: [String] {
    get throws { try ActiveProfiles(in: configuration).names }
  }

  /// Returns the configuration value as `T`, converted if need be, or the default. An optional `T` is nil where neither
  /// exists.
  ///
  /// Does not start the environment, so that declarations can depend on the value. Safe to call from any thread, also
  /// in factories.
  ///
  /// - Parameters:
  ///   - type: the type of the result.
  ///   - namespace: the namespace of the key.
  ///   - key: the name of the value.
  ///   - defaultValue: the result where the configuration has no value.
  ///   - scope: a dotted path; a value for "a.b" applies to "a.b.c", and takes precedence over one for "a".
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.missingConfiguration`, `.noConversion`, `.conversionFailed`; `.finished`, or the error of a failed
  ///   startup.
  public func getConfigurationValue<T>(
    _ type: T.Type, namespace: String = "", key: String, defaultValue: T? = nil, scope: String = "",
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    if isFinished { throw SourceLocation(file: file, line: line).met(finishedError()) }
    return try configuration.getValue(
      type, namespace: namespace, key: key, defaultValue: defaultValue, scope: scope, file: file, line: line)
  }

  /// Declares a bean that is a section of the configuration; see `define(_:configuration:)`.
  ///
  /// - Parameters:
  ///   - type: the type of the section, and of the bean.
  ///   - prefix: the section, `key` or `namespace:key`; empty for all keys without a namespace.
  ///   - id: the bean's id, unique in its environment.
  ///   - rejectsUnknownKeys: whether a value below the prefix that belongs to no property is a fault.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  package func bean<T: Decodable>(
    _ type: T.Type, configuration prefix: String, id: String? = nil, rejectsUnknownKeys: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<T> {
    sectionBean(type, ConfigurationSection(prefix: prefix, rejectsUnknownKeys: rejectsUnknownKeys), id, file, line)
  }

  /// Declares a section of the configuration that beans read at each use; see `define(_:configuration:)`.
  ///
  /// - Parameters:
  ///   - type: the type of the bean.
  ///   - prefix: the section, `key` or `namespace:key`; empty for all keys without a namespace.
  ///   - id: the bean's id, unique in its environment.
  ///   - rejectsUnknownKeys: whether a value below the prefix that belongs to no property is a fault.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  package func bean<T: Decodable & Sendable>(
    _ type: ConfigurationValue<T>.Type, configuration prefix: String, id: String? = nil,
    rejectsUnknownKeys: Bool = false, file: StaticString = #fileID, line: UInt = #line
  ) -> TypedBeanDeclaration<ConfigurationValue<T>> {
    sectionBean(type, ConfigurationSection(prefix: prefix, rejectsUnknownKeys: rejectsUnknownKeys), id, file, line)
  }

  /// Declares a bean that is its factory's only argument. Without the conformance, the factory captures no metatype that
  /// may not be `Sendable`.
  private func sectionBean<T>(
    _ type: T.Type, _ section: ConfigurationSection, _ id: String?, _ file: StaticString, _ line: UInt
  ) -> TypedBeanDeclaration<T> {
    bean(type, id: id, file: file, line: line, factory: { (section: T) in section }).argument(0, value: section)
  }

  /// Returns an empty set of configuration values, to be filled in code and then passed to `define`.
  public func settings(file: StaticString = #fileID, line: UInt = #line) -> Settings {
    Settings(file: file, line: line)
  }

  /// Adds values, which can be read at once. Later changes of the same `settings` have no effect.
  ///
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a value that exists already.
  @discardableResult
  public func define(_ settings: Settings) throws -> Self {
    try checkDeclaring("define", at: settings.origin)
    try settings.add(to: configuration, in: declaringModule)
    return self
  }

  /// Adds a source, whose values can be read at once. After startup, the values reach listeners and readers, but no
  /// bean whose placeholders have been resolved.
  ///
  /// - Parameters:
  ///   - source: the source of the values.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: the error of the source's `load`; `.invalidDeclaration` for a value that the source cannot override;
  ///   `.finished`.
  @discardableResult
  public func addConfigurationSource(
    _ source: any ConfigurationSource, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try addConfigurationSource(source, origin: SourceLocation(file: file, line: line).origin)
    return self
  }

  /// Adds a configuration source of a document, loaded at `origin`.
  ///
  /// - Throws: as `addConfigurationSource`.
  package func addConfigurationSource(_ source: any ConfigurationSource, origin: EnvironmentError.Origin) throws {
    do {
      if isFinished { throw finishedError() }
      try configuration.load(source)
    } catch { throw SourceLocation.known(origin).met(error) }
  }

  /// Adds a conversion for values that are declared, resolved or configured here and below. The conversion takes
  /// precedence over standard ones.
  ///
  /// - Parameters:
  ///   - source: the type of the values to be converted; for a class, also its subclasses.
  ///   - target: the type of the result.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - convert: called on the thread that converts. `.conversionFailed` carries its error.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func registerConversion<S, T>(
    from source: S.Type, to target: T.Type, file: StaticString = #fileID, line: UInt = #line,
    _ convert: @escaping @Sendable (S) throws -> T
  ) throws -> Self {
    try checkDeclaring("registerConversion", at: SourceLocation(file: file, line: line).origin)
    configuration.conversions.register(source, targetType: target, conversion: convert)
    return self
  }
}
