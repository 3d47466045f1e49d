public import Beans
public import BeansServer
@_spi(BeansPackage) import BeansSupport

/// Runs requests inside of sessions that outlive the process: they are kept in a store, for all nodes of a service.
///
/// ```swift
/// let sessions = SessionManager(factory, store: store)
/// let answer = try await sessions.withSession(cookie) { session in
///   try requests.withChild(request, in: session.environment, respond)
/// }
/// ```
///
/// A session has an environment on a node as long as requests are inside of it there: requests that meet share it. It is built
/// from what the store has, and finished when the last request has left. So what a bean does not keep in a `SessionValue` lasts
/// for a request, or for several that meet.
///
/// A request is answered when what it has changed has been saved. A save writes the values that differ from what the store
/// has, as they are then: also the changes of other requests inside so far. One that finds another one under way waits for it, and
/// saves the changes since. After an error of the store the request fails, and so does every other one inside with changes that
/// no save has written; the next request loads the session anew. Each request gets the outcome of its own changes: a request
/// whose changes another one has saved succeeds, and so does a request that changes nothing. What has been acknowledged is never lost to a
/// request, unless one that has not been acknowledged has overwritten the same value.
///
/// Safe from any thread. No lock is held while a session is built or released, or while the store is asked.
public final class SessionManager: Sendable {
  private let factory: EnvironmentFactory<SessionState>
  /// The environment that the sessions are opened in; nil for the one that the factory finds.
  private let parent: Environment?
  private let store: any SessionStore
  private let unreadable = UnreadableValues()
  private let state = Locked(State())

  private struct State {
    /// By what the store knows them by now; those that later requests may join.
    var open: [String: OpenSession] = [:]
    var counts = SessionManagerCounts()
  }

  /// Creates a manager for the children of one factory.
  ///
  /// - Parameters:
  ///   - factory: opens the sessions. A scope object without an idle time is enough: see `LoopScope`.
  ///   - store: keeps the sessions between requests.
  public init(_ factory: EnvironmentFactory<SessionState>, store: any SessionStore = MemorySessionStore()) {
    self.factory = factory
    self.store = store
    parent = nil
  }

  /// Creates a manager for the children of one factory in one parent, such as the sessions of one tenant.
  ///
  /// The factory is one that has been declared for the children of another factory. Each parent has a manager of its own, and the
  /// managers may share a store: an id of a session of one tenant is unknown in every other one.
  ///
  /// - Parameters:
  ///   - factory: opens the sessions, as in the form without a parent.
  ///   - parent: the environment that the sessions are opened in.
  ///   - name: the name of the parent, the same on all nodes and different from the names of all other parents that use the
  ///     store. A colon and the id follow it in the keys of the store.
  ///   - store: keeps the sessions between requests.
  public init(
    _ factory: EnvironmentFactory<SessionState>, in parent: Environment, named name: String, store: any SessionStore
  ) {
    self.factory = factory
    self.parent = parent
    self.store = NamedSessionStore(name: name, store: store)
  }

  // MARK: requests

  /// Runs `body` inside of the session with that id, then saves what has been changed.
  ///
  /// Without an id, or with one that the store does not have, the session is new: it is given to the store, under an id of
  /// ours, when `body` has changed a value, and is gone otherwise. Without an id that could be ours the store is not asked.
  ///
  /// Where `body` throws, nothing is saved, and the session neither ends nor gets another id. Where others are inside, what it
  /// has changed before may be saved with their changes. A task that is cancelled saves all the same.
  ///
  /// `body` runs where the caller does: from a task that prefers a loop, on that loop. In it, and in tasks that it begins,
  /// `await shutdown()` of the session or of an environment above begins the end and does not wait.
  ///
  /// - Parameters:
  ///   - id: what the client sent, whatever it is; nil for nothing.
  ///   - body: runs inside. It may be synchronous.
  /// - Returns: what `body` returns, and what has to become of the client's cookie.
  /// - Throws: what `body` throws; `SessionError`: where `isTemporary`, the client keeps its cookie. `.unavailable` of the
  ///   lookup comes before `body` has run. What `EnvironmentFactory.build` throws.
  public nonisolated(nonsending) func withSession<R>(
    _ id: String?, _ body: nonisolated(nonsending) (SessionHandle) async throws -> R
  ) async throws -> SessionAnswer<R> {
    let session = try await enter(id)
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
    } catch {
      if !changes.areSaved { retire(session) }
      throw error
    }
    let cookie = try await conclude(session, handle, id, changes)
    return SessionAnswer(value: value, cookie: cookie)
  }

  /// After the request: saves the session, and gives it another id or ends it where that was wished for.
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
    // When two requests that meet want another id, the first one gets it. The other one came with the id that is to be worth
    // nothing any more, and is not told the new one.
    guard rotates, id == idOfClient else { return .unchanged }
    do throws(SessionError) {
      return .set(try await rotate(session, id))
    } catch .ended where !changes.isEmpty {
      // After the save another node has rotated the id, which is as worthless as wanted, or has ended the session.
      return .unchanged
    } catch .unavailable(let reason) where !changes.isEmpty {
      throw .outcomeUnknown("the changes are saved, and the session keeps its id: \(reason)")
    }
  }

  private func finished() -> EnvironmentError {
    EnvironmentError(.finished, "a session ended while it was being opened", path: ["'\(factory.scopeName)'"])
  }

  // MARK: opening and leaving

  private nonisolated(nonsending) func enter(_ id: String?) async throws -> OpenSession {
    guard let id, UnguessableId.hasForm(id) else { return try open(nil, as: nil) }
    while true {
      let known = state.withLock { $0.open[id] }
      switch try await load(id, unlessVersion: known?.state.version) {
      case .missing:
        if let known { retire(known) }
        return try open(nil, as: nil)
      case .unchanged:
        guard let known else { throw SessionError.unavailable("it says that what is not known is unchanged") }
        if join(known) { return known }
        unlist(known)
      case .found(let record):
        // What was found may be what a save from here has just written.
        if let known = state.withLock({ $0.open[id] }), known.state.version < record.version {
          await known.turns.take()
          known.turns.pass()
        }
        return try open(record, as: id)
      }
    }
  }

  /// The environment of what the store has found, or the one that is open here and has seen as much.
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

  /// Under the lock.
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
    state.withLock { $0.counts.loads += 1 }
    do throws(SessionError) {
      return try await store.load(id, unlessVersion: version)
    } catch {
      count(error)
      throw error
    }
  }

  /// In the caller's turn. Another request may have saved the changes already, and a failure since does not concern them.
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
        state.withLock { $0.counts.creates += 1 }
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
    // Another node has changed other values: what is open here has not seen them.
    if version != save.version + 1 { retire(session) }
    state.withLock { $0.counts.saves += 1 }
  }

  /// In the caller's turn.
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
      state.counts.rotations += 1
      if state.open[id] === session {
        state.open[id] = nil
        state.open[other] = session
      }
    }
    session.rename(other)
    return other
  }

  /// Where the outcome is not known, the client would be left with an id that is worth nothing: it is found out.
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

  /// In the caller's turn.
  private nonisolated(nonsending) func end(_ session: OpenSession) async throws(SessionError) {
    if let id = session.id {
      do throws(SessionError) {
        try await store.end(id)
      } catch {
        count(error)
        throw error
      }
      state.withLock { $0.counts.ended += 1 }
    }
    giveUp(session, SaveFailure(error: .ended))
  }

  private func count(_ error: SessionError) {
    state.withLock { state in
      if case .conflict = error { state.counts.conflicts += 1 } else { state.counts.failures += 1 }
    }
  }

  // MARK: reports

  /// What has been done on this node so far.
  public var counts: SessionManagerCounts {
    var counts = state.withLock { $0.counts }
    counts.unreadable = unreadable.count
    return counts
  }
}

extension SessionManager: SurveyedSessions {
  /// What declarations call the scope of the sessions.
  public var scopeName: String { factory.scopeName }

  /// How many sessions are open here, and what became of the others. A session is opened anew for each request, or for several
  /// that meet, and has ended here when they have left.
  public func statistics() -> SessionStatistics {
    // All of it is kept.
    let counts = counts
    var statistics = SessionStatistics(counts: SessionCounts())
    statistics.counts.open = counts.open
    statistics.counts.opened = counts.opened
    statistics.counts.ended = counts.opened - counts.open
    statistics.counts.rotated = counts.rotations
    statistics.inUse = counts.open
    return statistics
  }

  package func statistics(lookingAt maximum: Int) -> (statistics: SessionStatistics, isComplete: Bool) {
    (statistics(), true)
  }

  package func report(_ statistics: SessionStatistics) -> String { report() }

  /// What `counts` tells, as a line of text for people.
  public func report() -> String {
    let counts = counts
    var text =
      "sessions: \(counts.open) in use; loaded \(counts.loads), created \(counts.creates), saved \(counts.saves)"
    text += ", rotated \(counts.rotations), ended \(counts.ended)"
    text += "; conflicts \(counts.conflicts), failures \(counts.failures), unreadable values \(counts.unreadable)"
    return text + "\n"
  }
}
