extension EnvironmentFactory {
  /// Builds a child, makes it `Environment.current`, runs `body`, and finishes the child, also when `body` throws.
  ///
  /// - Throws: what `build` or `body` throws; when both succeed, what failed in a release that was done before this
  ///   returns.
  public func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, _ body: (Environment) throws -> R
  ) throws -> R {
    let child = try parent.map { try build(seed, in: $0) } ?? build(seed)
    let result: R
    do {
      result = try Environment.$current.withValue(child) { try body(child) }
    } catch {
      child.finish()
      throw error
    }
    child.finish()
    // A scope bound to a loop is not waited for here.
    if child.isReleased { try child.shutdown() }
    return result
  }

  /// Builds a child, makes it `Environment.current` for the task and its children, runs `body`, and finishes the child,
  /// also when `body` throws or is cancelled. Returns when everything is released; asynchronous releases are awaited.
  ///
  /// - Throws: what `build` or `body` throws; when both succeed, what failed in a release.
  public func withChild<R>(
    _ seed: Seed, in parent: Environment? = nil, _ body: (Environment) async throws -> R
  ) async throws -> R {
    let child = try parent.map { try build(seed, in: $0) } ?? build(seed)
    let result: R
    do {
      result = try await Environment.$current.withValue(child) { try await body(child) }
    } catch {
      // The body's error is the one to report; a failing release has been logged.
      try? await child.shutdown()
      throw error
    }
    try await child.shutdown()
    return result
  }
}
