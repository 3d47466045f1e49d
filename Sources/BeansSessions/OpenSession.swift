import Beans
@_spi(BeansPackage) import BeansErrors

/// A session with requests inside on this node.
final class OpenSession: Sendable {
  let state: SessionState
  let environment: Environment
  /// The turns of the operations that save the session, replace its id or end it.
  let turns = Turns()
  private let use: Locked<Use>

  private struct Use {
    /// nil for a session that the store does not have.
    var id: String?
    /// The number of requests inside. The first request opens the session.
    var requests = 1
    var isJoinable = true
    var failure: SaveFailure?
  }

  init(_ state: SessionState, _ environment: Environment, id: String?) {
    self.state = state
    self.environment = environment
    use = Locked(Use(id: id))
  }

  /// The current id of the session in the store.
  var id: String? { use.withLock { $0.id } }

  func rename(_ id: String) { use.withLock { $0.id = id } }

  /// Enters the session. A call of `leave()` has to follow.
  ///
  /// - Returns: false where later requests have to load the session anew.
  func join() -> Bool {
    use.withLock { use in
      if use.isJoinable { use.requests += 1 }
      return use.isJoinable
    }
  }

  /// Leaves the session. Returns true for the last request, which finishes the environment.
  func leave() -> Bool {
    use.withLock { use in
      use.requests -= 1
      if use.requests == 0 { use.isJoinable = false }
      return use.requests == 0
    }
  }

  /// Makes later requests load the session anew. Requests inside continue.
  func retire() { use.withLock { $0.isJoinable = false } }

  /// The failure after which no change can be saved.
  var failure: SaveFailure? { use.withLock { $0.failure } }

  /// Makes later requests load the session anew. Requests inside that have unsaved changes fail.
  func giveUp(_ failure: SaveFailure) {
    use.withLock { use in
      use.isJoinable = false
      use.failure = use.failure ?? failure
    }
  }
}
