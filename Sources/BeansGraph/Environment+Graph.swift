public import Beans

extension Environment {
  /// Returns the beans that are declared here, further out and for the children of factories, with the dependencies of
  /// each.
  ///
  /// Compiles the declarations as startup does, and builds nothing. Before startup, `graph()` evaluates the conditions
  /// of declarations, and startup evaluates them once more; after startup, it uses the results of startup. For the
  /// child of a factory, the graph is that of the environment which declared the factory. Callable from any thread once
  /// the environment has started; before, from the declaring thread. Each call takes as long as the first half of a
  /// startup.
  ///
  /// - Throws: the faults of the declarations, as `validate()` does; `.finished` once the environment has been
  ///   finished.
  public func graph(file: StaticString = #fileID, line: UInt = #line) throws -> BeanGraph {
    do {
      return try readGraph()
    } catch {
      throw (error as? EnvironmentError)?.met(by: EnvironmentError.Origin(file, line)) ?? error
    }
  }

  /// Returns the graph as `graph()` does; its errors contain no call.
  package func readGraph() throws -> BeanGraph {
    let levels = try DeclarationLevel.all(around: self)
    // The levels retain objects that beans only refer to.
    return withExtendedLifetime(levels) { BeanGraph(levels) }
  }
}
