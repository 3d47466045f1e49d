/// Who is inside of a factory's child: a lookup under way, a child of its own, or somebody who has entered it. For
/// registries of children, which end those that nobody is inside of.
extension Environment {
  /// Whether somebody is inside. From any thread; may be over when this returns.
  package var isInUse: Bool { core.lifecycle.users > 0 }

  /// Goes inside: until `leave()` the environment is neither closed for want of use nor released. From any thread.
  ///
  /// - Returns: false where the end has begun.
  package func tryEnter() -> Bool {
    changeLocked { lifecycle in
      if lifecycle.isOpen { lifecycle.enter() }
      return lifecycle.isOpen
    }
  }

  /// Runs `body` after `tryEnter()`, then leaves, which counts as use. A `shutdown()` from in there does not wait.
  package func inside<R>(_ body: (Environment) throws -> R) rethrows -> R {
    defer { leave() }
    return try ResolutionContext.with(Unretained(self), nil) { _ in
      defer { used() }
      return try body(self)
    }
  }

  /// Runs `body` after `tryEnter()`, then leaves, which counts as use. A `shutdown() async` from in there does not wait; a
  /// synchronous one would wait for itself.
  package nonisolated(nonsending) func inside<R>(
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async rethrows -> R {
    defer {
      used()
      leave()
    }
    return try await Environment.$releasing.withValue(self) { try await body(self) }
  }

  /// Ends lookups where nobody is inside; `finish()` has to follow, outside of the caller's locks.
  ///
  /// - Returns: false where somebody is inside, or where the end has begun.
  package func closeIfUnused() -> Bool { changeLocked { $0.closeIfUnused() } }
}
