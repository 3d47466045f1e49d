// Children of a factory whose seed is `Void`: the calls without the argument `()`.

extension EnvironmentFactory where Seed == Void {
  /// Builds a child that outlives this call, as `open(_:)` does.
  ///
  /// - Parameters:
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:in:)`.
  ///   - file: the source file of the call, for error messages and for the log of a dropped handle.
  ///   - line: the line of the call.
  /// - Throws: as `open(_:)`.
  public func open(
    in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> ChildHandle { try open((), in: parent, file: file, line: line) }

  /// Builds a child for the time of a closure, as `withChild(_:)` does.
  ///
  /// - Parameters:
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:in:)`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: runs inside the child, and keeps its beans.
  /// - Throws: as `withChild(_:)`.
  @_disfavoredOverload
  public func withChild<R>(
    in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Environment) throws -> R
  ) throws -> R { try withChild((), in: parent, file: file, line: line, body) }

  /// Builds a child for the time of an asynchronous closure, as `withChild(_:)` does, on the caller's actor.
  ///
  /// - Parameters:
  ///   - parent: an environment that the enclosing factory built; without one, the parent is that of `build(_:in:)`.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  ///   - body: runs inside the child, and keeps its beans.
  /// - Throws: as `withChild(_:)`.
  public nonisolated(nonsending) func withChild<R>(
    in parent: Environment? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R { try await withChild((), in: parent, file: file, line: line, body) }
}
