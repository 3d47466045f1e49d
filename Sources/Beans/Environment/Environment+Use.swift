/// The users of a factory's child: a lookup in flight, a child of its own, or a caller of `tryEnter()`. For registries
/// of children, which end those without users.
extension Environment {
  /// Whether the environment has users. Safe to read from any thread; the result may be outdated when this returns.
  package var isInUse: Bool { core.lifecycle.isInUse }

  /// Adds a body: until `leaveBody()`, the environment is not closed as unused, and is released only by an end that cannot
  /// wait. Safe to call from any thread.
  ///
  /// - Returns: false if the end has begun.
  package func tryEnter() -> Bool { changeLocked { $0.enterBody() } }

  /// Removes a body. The last user of an ending environment releases it.
  package func leaveBody() {
    if changeLocked({ $0.leaveBody() }) { release() }
  }

  /// Throws `.finished` if an end that could not wait has failed the environment, such as a deadline.
  package func checkBodies() throws {
    if core.lifecycle.isOverruled { throw finishedError() }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leaveBody()`. A `shutdown()` inside `body` does not wait.
  package func inside<R>(_ body: (Environment) throws -> R) rethrows -> R {
    defer { leaveBody() }
    return try ResolutionContext.with(Unretained(self), nil) { _ in
      defer { used() }
      return try body(self)
    }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leaveBody()`. An asynchronous `shutdown()` inside `body` does
  /// not wait; a synchronous one would wait for itself.
  package nonisolated(nonsending) func inside<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    defer {
      used()
      leaveBody()
    }
    return try await Environment.$releasing.withValue(self) { try await body(self) }
  }

  /// Ends lookups if the environment has no users; then the caller must call `finish()`, outside of its locks.
  ///
  /// - Returns: false if the environment has users, or if the end has begun.
  package func closeIfUnused(_ cause: EndCause) -> Bool { changeLocked { $0.closeIfUnused(cause) } }

  /// Begins the end as `finish()` does, with a cause for the error of later lookups.
  package func finish(by cause: EndCause) { beginFinish(cause) }
}
