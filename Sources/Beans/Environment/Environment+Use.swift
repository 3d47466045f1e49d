/// The users of a factory's child: a lookup in flight, a child of its own, or a caller of `tryEnter()`. For registries
/// of children, which end those without users.
extension Environment {
  /// Whether the environment has users. Safe to read from any thread; the result may be outdated when this returns.
  package var isInUse: Bool { core.lifecycle.users > 0 }

  /// Adds a user: until `leave()`, the environment is neither closed as unused nor released. Safe to call from any
  /// thread.
  ///
  /// - Returns: false if the end has begun.
  package func tryEnter() -> Bool {
    changeLocked { lifecycle in
      if lifecycle.isOpen { lifecycle.enter() }
      return lifecycle.isOpen
    }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leave()`. A `shutdown()` inside `body` does not wait.
  package func inside<R>(_ body: (Environment) throws -> R) rethrows -> R {
    defer { leave() }
    return try ResolutionContext.with(Unretained(self), nil) { _ in
      defer { used() }
      return try body(self)
    }
  }

  /// Runs `body` after `tryEnter()`, then calls `used()` and `leave()`. An asynchronous `shutdown()` inside `body` does
  /// not wait; a synchronous one would wait for itself.
  package nonisolated(nonsending) func inside<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    defer {
      used()
      leave()
    }
    return try await Environment.$releasing.withValue(self) { try await body(self) }
  }

  /// Ends lookups if the environment has no users; then the caller must call `finish()`, outside of its locks.
  ///
  /// - Returns: false if the environment has users, or if the end has begun.
  package func closeIfUnused() -> Bool { changeLocked { $0.closeIfUnused() } }
}
