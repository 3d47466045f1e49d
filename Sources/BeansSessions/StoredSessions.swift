import Beans
@_spi(BeansPackage) import BeansErrors

/// The sessions that a store keeps for all nodes of a service, and those of them that are open on this node.
///
/// Safe from any thread. No lock is held while a session is built or released, or during a call of the store.
final class StoredSessions: Sendable {
  private let factory: EnvironmentFactory<SessionState>
  /// The environment in which the sessions are opened; nil for the one that the factory finds.
  private let parent: Environment?
  private let store: any SessionStore
  private let unreadable = UnreadableValues()
  private let state: Locked<State>

  private struct State {
    /// The sessions that later requests may join, by their current ids in the store.
    var open: [String: OpenSession] = [:]
    /// All counts except `finished` and `inUse`.
    var counts: ScopeStatistics
    var use = SessionStoreUse()
  }

  /// Creates the sessions of the children of one factory.
  init(_ factory: EnvironmentFactory<SessionState>, store: any SessionStore) {
    self.factory = factory
    self.store = store
    parent = nil
    state = Locked(State(counts: ScopeStatistics(scope: factory.scopeName)))
    (store as? MemorySessionStore)?.clock.follow { factory.clock }
  }

  /// Creates the sessions of one parent, whose name precedes their ids in the store.
  init(
    _ factory: EnvironmentFactory<SessionState>, in parent: Environment, named name: String, store: any SessionStore
  ) {
    self.factory = factory
    self.parent = parent
    self.store = NamedSessionStore(name: name, store: store)
    state = Locked(State(counts: ScopeStatistics(scope: factory.scopeName)))
    (store as? MemorySessionStore)?.clock.follow { parent.clock }
  }

  // MARK: requests

  /// Runs `body` inside the session with an id, or else a new one, then saves the changes: see
  /// `Sessions.withSession(cookie:_:)`.
  nonisolated(nonsending) func withSession<R>(
    _ id: String?, _ body: nonisolated(nonsending) (SessionHandle) async throws -> R
  ) async throws -> (value: R, cookie: SessionCookie) {
    let known = if let id { try await enter(id) } else { nil as OpenSession? }
    return try await run(try known ?? open(nil, as: nil), id, body)
  }

  /// Runs `body` as `withSession` does; nil, without a call of it, if the store has no session with that id.
  nonisolated(nonsending) func withKnownSession<R>(
    _ id: String, _ body: nonisolated(nonsending) (SessionHandle) async throws -> R
  ) async throws -> (value: R, cookie: SessionCookie)? {
    guard let session = try await enter(id) else { return nil }
    return try await run(session, id, body)
  }

  /// Returns the environment of a session with requests inside.
  func find(_ id: String) -> Environment? {
    let environment = state.withLock { $0.open[id] }?.environment
    return if let environment, !environment.isFinished { environment } else { nil }
  }

  /// Runs `body` inside a session that the caller has entered.
  private nonisolated(nonsending) func run<R>(
    _ session: OpenSession, _ id: String?, _ body: nonisolated(nonsending) (SessionHandle) async throws -> R
  ) async throws -> (value: R, cookie: SessionCookie) {
    defer { leave(session) }
    let handle = SessionHandle(session.environment, isNew: session.id == nil)
    let changes = session.state.members.enter()
    defer { session.state.members.leave(changes) }
    guard session.environment.tryEnter() else { throw finished() }
    let value: R
    do {
      value = try await session.environment.inside { _ in
        try await RequestChanges.$current.withValue(changes) { try await body(handle) }
      }
      // A change that was made while a deadline or a limit failed the session is not saved.
      try session.environment.checkBodies()
    } catch {
      if !changes.areSaved { retire(session) }
      throw error
    }
    let cookie = try await conclude(session, handle, id, changes)
    return (value, cookie)
  }

  /// Concludes a request: saves the session, and replaces its id or ends it where the request has called for that.
  private nonisolated(nonsending) func conclude(
    _ session: OpenSession, _ handle: SessionHandle, _ idOfClient: String?, _ changes: RequestChanges
  ) async throws(SessionError) -> SessionCookie {
    let (ends, rotates) = (handle.wantsEnd, handle.wantsRotation && !handle.isNew)
    if changes.isEmpty, !ends, !rotates { return .unchanged }
    await session.turns.take()
    defer { session.turns.pass() }
    if ends {
      do throws(SessionError) { try await end(session) } catch { throw SaveFailure(error: error).error(for: changes) }
      return .removed
    }
    try await save(session, changes)
    guard let id = session.id else { return .unchanged }
    if handle.isNew { return .set(id) }
    // When two concurrent requests rotate the id, the first one receives the new id. The other request came with the
    // old id, which must become worthless, so it does not receive the new one.
    guard rotates, id == idOfClient else { return .unchanged }
    do throws(SessionError) {
      return .set(try await rotate(session, id))
    } catch .ended where !changes.isEmpty {
      // After the save another node has rotated the id, which makes the old id worthless as intended, or has ended the
      // session.
      return .unchanged
    } catch .unavailable(let reason) where !changes.isEmpty {
      throw .outcomeUnknown("the changes are saved, and the session keeps its id: \(reason)")
    }
  }

  private func finished() -> EnvironmentError {
    EnvironmentError(.finished, "a session ended while it was being opened", path: ["'\(factory.scopeName)'"])
  }

  // MARK: opening and leaving

  /// Enters a session of the store; nil if there is none with that id.
  private nonisolated(nonsending) func enter(_ id: String) async throws -> OpenSession? {
    guard UnguessableId.hasForm(id) else { return nil }
    while true {
      let known = state.withLock { $0.open[id] }
      switch try await load(id, unlessVersion: known?.state.version) {
      case .missing:
        if let known { retire(known) }
        return nil
      case .unchanged:
        guard let known else { throw SessionError.unavailable("it returned no values for an unknown version") }
        if join(known) { return known }
        unlist(known)
      case .found(let record):
        // The record may be the one that a save from here has just written.
        if let known = state.withLock({ $0.open[id] }), known.state.version < record.version {
          await known.turns.take()
          known.turns.pass()
        }
        return try open(record, as: id)
      }
    }
  }

  /// Returns the session that is open here with at least the version of the record, or opens one for the record.
  private func open(_ record: SessionRecord?, as id: String?) throws -> OpenSession {
    if let id, let record, let known = state.withLock({ find(id, record, in: $0) }) { return known }
    let seed = SessionState(record, unreadable)
    let environment = try parent.map { try factory.build(seed, in: $0) } ?? factory.build(seed)
    let session = OpenSession(seed, environment, id: id)
    let (known, replaced) = state.withLock { state -> (OpenSession?, OpenSession?) in
      if let id, let record {
        if let known = find(id, record, in: state) { return (known, nil) }
        state.counts.open += 1
        state.counts.opened += 1
        return (nil, state.open.updateValue(session, forKey: id))
      }
      state.counts.open += 1
      state.counts.opened += 1
      return (nil, nil)
    }
    if known != nil { session.environment.finish() }
    replaced?.retire()
    return known ?? session
  }

  /// Joins the session that is open here with at least the version of the record. Runs under the lock.
  private func find(_ id: String, _ record: SessionRecord, in state: borrowing State) -> OpenSession? {
    guard let known = state.open[id], known.state.version >= record.version, join(known) else { return nil }
    return known
  }

  private func join(_ session: OpenSession) -> Bool { !session.environment.isFinished && session.join() }

  private func leave(_ session: OpenSession) {
    guard session.leave() else { return }
    unlist(session)
    session.environment.finish()
    state.withLock { $0.counts.open -= 1 }
  }

  private func retire(_ session: OpenSession) {
    session.retire()
    unlist(session)
  }

  private func giveUp(_ session: OpenSession, _ failure: SaveFailure) {
    session.giveUp(failure)
    unlist(session)
  }

  private func unlist(_ session: OpenSession) {
    guard let id = session.id else { return }
    state.withLock { if $0.open[id] === session { $0.open[id] = nil } }
  }

  // MARK: asking the store

  private nonisolated(nonsending) func load(
    _ id: String, unlessVersion version: UInt64?
  ) async throws(SessionError) -> SessionLookup {
    state.withLock { $0.use.loads += 1 }
    do throws(SessionError) {
      return try await store.load(id, unlessVersion: version)
    } catch {
      count(error)
      throw error
    }
  }

  /// Saves the session in the caller's turn. Another request may have saved the changes already; a failure since then
  /// does not affect them.
  private nonisolated(nonsending) func save(
    _ session: OpenSession, _ changes: RequestChanges
  ) async throws(SessionError) {
    if changes.areSaved { return }
    if let failure = session.failure { throw failure.error(for: changes) }
    var sent: PendingSave?
    do throws(SessionError) {
      guard let save = try session.state.pendingSave() else { return }
      sent = save
      if let id = session.id {
        try await self.save(save, of: session, id)
      } else {
        let id = UnguessableId.make()
        session.state.saved(save, version: try await store.create(id, save.values))
        session.rename(id)
        state.withLock { $0.use.creates += 1 }
      }
    } catch {
      count(error)
      let failure = SaveFailure(error: error, sent: sent?.generations ?? [:])
      giveUp(session, failure)
      throw failure.error(for: changes)
    }
  }

  private nonisolated(nonsending) func save(
    _ save: PendingSave, of session: OpenSession, _ id: String
  ) async throws(SessionError) {
    var save = save
    let version: UInt64
    do throws(SessionError) {
      version = try await store.save(id, save.change)
    } catch .conflict(let names) {
      let refused = Set(names).subtracting(save.defaults)
      if !refused.isEmpty { throw .conflict(refused.sorted()) }
      save = save.withoutDefaults
      version = try await store.save(id, save.change)
    }
    session.state.saved(save, version: version)
    // Another node has changed other values, which the session open here does not contain.
    if version != save.version + 1 { retire(session) }
    state.withLock { $0.use.saves += 1 }
  }

  /// Replaces the id of the session in the caller's turn.
  private nonisolated(nonsending) func rotate(_ session: OpenSession, _ id: String) async throws(SessionError) -> String
  {
    let other = UnguessableId.make()
    do throws(SessionError) {
      try await rotate(id, to: other)
    } catch {
      count(error)
      switch error {
      case .ended: giveUp(session, SaveFailure(error: error))
      case .outcomeUnknown: retire(session)
      default: break
      }
      throw error
    }
    state.withLock { state in
      state.counts.rotated += 1
      if state.open[id] === session {
        state.open[id] = nil
        state.open[other] = session
      }
    }
    session.rename(other)
    return other
  }

  /// Replaces the id in the store. After an unknown outcome, a second attempt or a lookup determines the outcome,
  /// because the client could otherwise be left with a worthless id.
  private nonisolated(nonsending) func rotate(_ id: String, to other: String) async throws(SessionError) {
    do throws(SessionError) {
      return try await store.rotate(id, to: other)
    } catch .outcomeUnknown(let reason) {
      do throws(SessionError) {
        return try await store.rotate(id, to: other)
      } catch .ended {
        if case .missing = try await store.load(other, unlessVersion: nil) { throw .ended }
      } catch .unavailable {
        throw .outcomeUnknown(reason)
      }
    }
  }

  /// Ends the session in the caller's turn.
  private nonisolated(nonsending) func end(_ session: OpenSession) async throws(SessionError) {
    if let id = session.id {
      do throws(SessionError) {
        try await store.end(id)
      } catch {
        count(error)
        throw error
      }
      state.withLock { $0.use.ends += 1 }
    }
    giveUp(session, SaveFailure(error: .ended))
  }

  private func count(_ error: SessionError) {
    state.withLock { state in
      if case .conflict = error { state.use.conflicts += 1 } else { state.use.failures += 1 }
    }
  }

  // MARK: reports

  /// The counts of this node so far. A session is opened anew for each request, or for several concurrent ones, and has
  /// finished here when they have left.
  var statistics: ScopeStatistics {
    var statistics = state.withLock { $0.counts }
    statistics.finished = statistics.opened - statistics.open
    statistics.inUse = statistics.open
    return statistics
  }

  /// The uses of the store by this node so far.
  var use: SessionStoreUse {
    var use = state.withLock { $0.use }
    use.unreadable = unreadable.count
    return use
  }
}
