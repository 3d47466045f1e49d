public import BeansLogging

extension EnvironmentFactory where Seed: Sendable {
  /// Contributes metadata to each log entry that is written inside a child of this factory, such as the id of the
  /// request:
  ///
  /// ```swift
  /// try requests.logMetadata { request in ["request": request.id] }
  /// ```
  ///
  /// An entry is inside a child that is `Environment.current`, as in `withChild`, or whose beans the thread creates or
  /// releases. Children of further factories add their own metadata, whose values replace those of the same keys. Opening
  /// a child costs nothing more: `metadata` is called for each entry that is written, and for no other.
  ///
  /// - Parameters:
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - metadata: returns the metadata for the value that a child is built from. Called on the thread that logs, also
  ///     while the child ends; must not wait. Entries that it writes have no metadata of environments.
  /// - Throws: `.frozen` once the environment has started.
  @discardableResult
  public func logMetadata(
    file: StaticString = #fileID, line: UInt = #line, _ metadata: @escaping @Sendable (Seed) -> LogMetadata
  ) throws -> Self {
    try opener.declarations(at: SourceLocation(file: file, line: line)).add { object in
      let seed = object.map { Box.read($0, as: Seed.self) } ?? () as? Seed
      return seed.map(metadata) ?? LogMetadata()
    }
    LogMetadata.setSource { LoggedEnvironment.metadata }
    return self
  }
}
