extension Environment {
  /// Returns the declarations here, in order of definition, and the live environments below, as text for people.
  ///
  /// Contains a line for each bean: its type, id and scope, and whether it is lazy, abstract or primary; with
  /// `traceOrigin`, also the place of its declaration. Then the active profiles that no declaration names, and the
  /// beans, also of factories' children, that several threads share although their type is not statically `Sendable`,
  /// with the places of their declarations; the optional parameters that no bean satisfies; several beans of one type of
  /// which a lookup by type finds none; the beans that run and that no call has started. Safe to call from any thread;
  /// walks the whole tree. The first call after startup compiles the declarations once more, as `graph()` does.
  public func report() -> String { report(maximumChildren: .max) }

  /// Returns the text of `report()` with a maximum number of children for each environment, and the number of the
  /// children left out.
  ///
  /// For services with many sessions. Safe to call from any thread; the cost depends on the environments in the text,
  /// not on those left out.
  public func report(maximumChildren: Int) -> String {
    EnvironmentReport(self).text(maximumChildren: maximumChildren)
  }

  /// Returns counts for each scope: this environment and all that have been opened below it so far, live or not,
  /// anywhere in the tree.
  ///
  /// Walks the live children; for reports. Safe to call from any thread.
  public func statistics() -> [ScopeStatistics] { LiveEnvironments(below: self).statistics }

  /// The beans that this environment's startup built, in order, each with its duration.
  ///
  /// Empty without the startup option `.recordTimes`, and for children of factories. Safe to read from any thread.
  public var startupTimes: [StartupTime] { existingExtras?.resources?.record?.times ?? [] }

  /// The duration of the startup, including the beans that `ready()` awaits. Nil without the startup option
  /// `.recordTimes`.
  public var startupDuration: Duration? { existingExtras?.resources?.record?.duration }

  /// Finds the faults of the declarations here and for the children of factories, and builds nothing.
  ///
  /// Compiles the declarations as startup does. Values are converted, except texts: their placeholders depend on the
  /// configuration of the running process, and so do bean scopes and beans that inject. For a test, or for a check
  /// while the program is built.
  ///
  /// Before startup, this evaluates the conditions of declarations, and startup evaluates them again. Call this from
  /// the thread that declares, or from any thread once the environment has started. Each call takes as long as the
  /// first half of a startup.
  ///
  /// - Parameters:
  ///   - options: the checks in addition to those of the graph.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; `.finished` once
  ///   the environment has been finished.
  public func validate(options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line) throws {
    do { try check(options: options) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Checks the declarations as `validate(options:)` does; the errors name no call.
  package func check(options: StartupOptions) throws {
    guard let compiler = try DeclarationCompiler(self).compilers.last else { return }
    let sharing = options.contains(.requireSendable) ? compiler.sharingFaults : []
    try throwFaults(compiler.faults + compiler.checkValues() + sharing)
  }

  /// Returns the declarations here, further out and for the children of factories, with the dependencies of each.
  ///
  /// Threads and cost are those of `validate(options:)`. For the child of a factory, the outline is that of the
  /// environment that declared the factory.
  ///
  /// - Throws: the faults of the declarations; `.finished` once the environment has been finished. The errors name no
  ///   call.
  package func outlineDeclarations() throws -> DeclarationOutline { try DeclarationOutline(of: self) }
}
