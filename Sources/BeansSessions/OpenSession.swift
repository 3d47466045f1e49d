import Beans
@_spi(BeansPackage) import BeansSupport

/// A session while requests are inside of it on this node.
final class OpenSession: Sendable {
  let state: SessionState
  let environment: Environment
  /// Whoever saves the session, gives it another id or ends it has the turn.
  let turns = Turns()
  private let use: Locked<Use>

  private struct Use {
    /// nil for one that the store does not have.
    var id: String?
    /// Requests inside; the first one opens the session.
    var requests = 1
    var isJoinable = true
    var failure: SaveFailure?
  }

  init(_ state: SessionState, _ environment: Environment, id: String?) {
    self.state = state
    self.environment = environment
    use = Locked(Use(id: id))
  }

  /// What the store knows the session by now.
  var id: String? { use.withLock { $0.id } }

  func rename(_ id: String) { use.withLock { $0.id = id } }

  /// Goes inside; `leave()` has to follow.
  ///
  /// - Returns: false where later requests have to load the session anew.
  func join() -> Bool {
    use.withLock { use in
      if use.isJoinable { use.requests += 1 }
      return use.isJoinable
    }
  }

  /// Leaves; true for the last one, who finishes the environment.
  func leave() -> Bool {
    use.withLock { use in
      use.requests -= 1
      if use.requests == 0 { use.isJoinable = false }
      return use.requests == 0
    }
  }

  /// Has later requests load the session anew. Those inside go on.
  func retire() { use.withLock { $0.isJoinable = false } }

  /// The failure after which no change can be saved.
  var failure: SaveFailure? { use.withLock { $0.failure } }

  /// Has later requests load the session anew, and those inside fail that have changes which are not saved.
  func giveUp(_ failure: SaveFailure) {
    use.withLock { use in
      use.isJoinable = false
      use.failure = use.failure ?? failure
    }
  }
}
