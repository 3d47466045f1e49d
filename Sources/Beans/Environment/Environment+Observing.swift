extension Environment {
  /// Adds an observer of this environment and those below: of children of its factories, asynchronous creations and
  /// failed releases.
  ///
  /// In a factory's `configure`, the observer observes the children of that factory, and those below. Several observers
  /// are called in the order of their registration, those of outer environments first.
  ///
  /// - Parameters:
  ///   - observer: retained as long as the environment exists.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; the error of startup once that has failed.
  @discardableResult
  public func addObserver(
    _ observer: any EnvironmentObserver, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self {
    try declarations("addObserver", at: SourceLocation(file: file, line: line).origin).add(observer)
    return self
  }
}
