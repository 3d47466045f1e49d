extension Environment {
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
  package func outlineDeclarations() throws -> DeclarationOutline {
    let compilers = try DeclarationCompiler(self).compilers
    try throwFaults(compilers.flatMap(\.faults))
    return OutlineReader.read(compilers)
  }
}
