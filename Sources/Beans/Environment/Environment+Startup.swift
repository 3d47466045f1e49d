import BeansConfiguration

extension Environment {
  /// Creates an empty environment, to be declared, then started.
  ///
  /// - Parameters:
  ///   - name: for reports and errors.
  ///   - parent: the environment whose beans, scopes and post processors this one sees. It may be started or not; it
  ///     is started before this one.
  ///   - traceOrigin: keeps the origins of declarations in `report()`. Errors name them anyhow.
  /// - Throws: `.finished` when the parent has been finished.
  public convenience init(name: String = "environment", parent: Environment? = nil, traceOrigin: Bool = false) throws {
    if let parent, parent.core.lifecycle.isEnding { throw parent.finishedError() }
    let declarations = EnvironmentDeclarations(
      name: name, configuration: ConfigurationManager(parent: parent?.configuration))
    self.init(declarations, traceOrigin: traceOrigin, parent: parent, .plain)
  }

  /// What a factory's `configure` is handed: declares, never starts.
  convenience init(configuring declarations: EnvironmentDeclarations, parent: Environment?) {
    self.init(declarations, traceOrigin: false, parent: parent, [.plain, .template])
  }

  private convenience init(
    _ declarations: EnvironmentDeclarations, traceOrigin: Bool, parent: Environment?, _ kind: EnvironmentCore.Kind
  ) {
    let resources = EnvironmentResources(declarations, traceOrigin: traceOrigin, log: parent?.log ?? .shared)
    self.init(EnvironmentCore(parent: parent, kind, EnvironmentExtras(resources)))
  }

  /// Validates all declarations and builds every singleton that is not lazy. The first lookup does it otherwise.
  ///
  /// Starts the parent first. Threads that come meanwhile wait. A second call returns at once.
  ///
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; what a factory
  ///   threw as `.creationFailed`. What was already built has been released then, in reverse order, and every later
  ///   call throws the same error.
  @discardableResult
  public func startup() throws -> Self {
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded()
    return self
  }
}
