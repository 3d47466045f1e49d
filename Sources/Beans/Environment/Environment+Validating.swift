extension Environment {
  /// Finds what is wrong with the declarations here and for the children of factories, and builds nothing.
  ///
  /// Compiles the declarations as startup does. Values are converted, but for text: its placeholders depend on the configuration of
  /// the process that runs, as do bean scopes and beans that inject. For a test, or for a check while the program is built.
  ///
  /// Before startup, the conditions of declarations are evaluated, and once more by startup itself. Call it from the thread
  /// that declares, or from any thread once the environment has started. Takes as long as the first half of a startup, each time.
  ///
  /// - Parameters:
  ///   - options: what is checked beyond the graph.
  ///   - file: where it is called, as errors say it.
  ///   - line: where in the file.
  /// - Throws: a single fault as itself, several as `.startupFailed` with all of them in `underlying`; `.finished` once the
  ///   environment has been finished.
  public func validate(options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line) throws {
    do { try check(options: options) } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Checks the declarations as `validate(options:)` does; its errors name no call.
  package func check(options: StartupOptions) throws {
    guard let compiler = try DeclarationCompiler(self).compilers.last else { return }
    let sharing = options.contains(.requireSendable) ? compiler.sharingFaults : []
    try throwFaults(compiler.faults + compiler.checkValues() + sharing)
  }

  /// Returns the declarations here, further out and for the children of factories, with what each of them takes.
  ///
  /// Threads and cost as for `validate(options:)`. For the child of a factory, the outline is that of the environment which
  /// declared the factory.
  ///
  /// - Throws: what is wrong with the declarations; `.finished` once the environment has been finished. Its errors name no call.
  package func outlineDeclarations() throws -> DeclarationOutline {
    let compilers = try DeclarationCompiler(self).compilers
    try throwFaults(compilers.flatMap(\.faults))
    return OutlineReader.read(compilers)
  }
}
