public import BeansConfiguration

extension Environment {
  /// The configuration: what is declared here, with that of the ancestors behind it. Children of one factory share one.
  ///
  /// Beans get it as a parameter. Sources that are beans are part of it from startup on. From any thread.
  public var configurationManager: ConfigurationManager { configuration }

  /// The conversions: those registered here, those of the ancestors, and the standard ones. From any thread.
  public var conversionFactory: StandardConversionFactory { configuration.conversions }

  /// The profiles that conditions of declarations here go by: those that the configuration names as `beans.profiles` or
  /// `BEANS_PROFILES`, else "default". In alphabetical order, each once.
  ///
  /// Reads the configuration as it is now; conditions have been asked at startup. From any thread.
  ///
  /// - Throws: `.noConversion` or `.conversionFailed` for a value that is neither text nor a list of it.
  public var activeProfiles: [String] {
    get throws { try ActiveProfiles(in: configuration).names }
  }

  /// The configuration value as `T`, converted if need be, or the default. An optional `T` is nil where there is neither.
  ///
  /// Does not start the environment, so that declarations can depend on it. From any thread, in factories, too.
  ///
  /// - Parameters:
  ///   - type: what the value becomes.
  ///   - namespace: where the key stands.
  ///   - key: names the value.
  ///   - defaultValue: what is answered where there is no value.
  ///   - scope: a dotted path; a value for "a.b" holds for "a.b.c", and is preferred to one for "a".
  ///   - file: where it is read, as errors say it.
  ///   - line: where in the file.
  /// - Throws: `.missingConfiguration`, `.noConversion`, `.conversionFailed`; `.finished`, or what startup threw.
  public func getConfigurationValue<T>(
    _ type: T.Type, namespace: String = "", key: String, defaultValue: T? = nil, scope: String = "",
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    if isFinished { throw SourceLocation(file: file, line: line).met(finishedError()) }
    return try configuration.getValue(
      type, namespace: namespace, key: key, defaultValue: defaultValue, scope: scope, file: file, line: line)
  }

  /// Configuration values to be written down in code, then given to `define`.
  public func settings(file: StaticString = #fileID, line: UInt = #line) -> Settings {
    Settings(file: file, line: line)
  }

  /// Adds values, which can be read at once. What is set later on the same `settings` has no effect.
  ///
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` for a value that is there already.
  @discardableResult
  public func define(_ settings: Settings) throws -> Self {
    try checkDeclaring("define", at: settings.origin)
    try settings.add(to: configuration, in: declaringModule)
    return self
  }

  /// Adds a source, whose values can be read at once. After startup, too: then they reach listeners and readers, but no
  /// bean whose placeholders have been resolved.
  ///
  /// - Parameters:
  ///   - source: where the values come from.
  ///   - file: where it is added, as errors say it.
  ///   - line: where in the file.
  /// - Throws: what the source's `load` throws; `.invalidDeclaration` for a value that it cannot overrule; `.finished`.
  @discardableResult
  public func addConfigurationSource(
    _ source: any ConfigurationSource, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try add(source, at: SourceLocation(file: file, line: line))
    return self
  }

  /// Adds a source that a document brings, which is loaded at `origin`.
  ///
  /// - Throws: as `addConfigurationSource`.
  package func addConfigurationSource(_ source: any ConfigurationSource, origin: EnvironmentError.Origin) throws {
    try add(source, at: .known(origin))
  }

  private func add(_ source: any ConfigurationSource, at location: SourceLocation) throws {
    do {
      if isFinished { throw finishedError() }
      try configuration.load(source)
    } catch { throw location.met(error) }
  }

  /// Adds a conversion for values that are declared, resolved or configured here and below. It wins over standard ones.
  ///
  /// - Parameters:
  ///   - source: of values to be converted; of a class, with its subclasses.
  ///   - target: what they become.
  ///   - file: where the conversion is registered, as errors say it.
  ///   - line: where in the file.
  ///   - convert: called on the thread that converts. What it throws arrives in `.conversionFailed`.
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
