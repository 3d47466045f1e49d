extension Environment {
  /// Which beans are declared here, further out and for the children of factories, and what each of them takes.
  ///
  /// Compiles the declarations as startup does, and builds nothing: before startup, conditions of declarations are asked, and
  /// once more by startup itself; after it, they are as startup has found them. For the child of a factory, the graph is that
  /// of the environment which declared the factory. From any thread once the environment has started; before, from the thread
  /// that declares. Takes as long as the first half of a startup, each time.
  ///
  /// - Throws: what is wrong with the declarations, as `validate()`; `.finished` once the environment has been finished.
  public func graph(file: StaticString = #fileID, line: UInt = #line) throws -> BeanGraph {
    do { return try readGraph() } catch { throw SourceLocation(file: file, line: line).met(error) }
  }

  /// Reads the graph as `graph()` does; its errors name no call.
  package func readGraph() throws -> BeanGraph {
    let compiler = try DeclarationCompiler(self)
    try throwFaults(compiler.compilers.flatMap(\.faults))
    return GraphReader.read(compiler.compilers)
  }

  /// Finds what is wrong with the declarations here and for the children of factories, and builds nothing.
  ///
  /// Values are converted, but for text: what the configuration has to say is known only where the program runs, and so is
  /// what bean scopes and beans that inject are for. For a test, or for a check while the program is built. Threads as for
  /// `graph()`.
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
}
