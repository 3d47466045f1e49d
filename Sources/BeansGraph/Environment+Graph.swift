public import Beans

extension Environment {
  /// The beans declared here, further out and for the children of factories, and what each of them takes.
  ///
  /// Compiles the declarations as startup does, and builds nothing: before startup, conditions of declarations are evaluated, and
  /// once more by startup itself; after it, they are as startup has found them. For the child of a factory, the graph is that
  /// of the environment which declared the factory. From any thread once the environment has started; before, from the thread
  /// that declares. Takes as long as the first half of a startup, each time.
  ///
  /// - Throws: what is wrong with the declarations, as `validate()`; `.finished` once the environment has been finished.
  public func graph(file: StaticString = #fileID, line: UInt = #line) throws -> BeanGraph {
    do {
      return try readGraph()
    } catch {
      throw (error as? EnvironmentError)?.met(by: EnvironmentError.Origin(file, line)) ?? error
    }
  }

  /// Reads the graph as `graph()` does; its errors name no call.
  package func readGraph() throws -> BeanGraph { BeanGraph(try outlineDeclarations()) }
}
