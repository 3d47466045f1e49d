public import Beans

extension Sessions where Seed == SessionState {
  /// Creates sessions that a store keeps between requests, for all nodes of a service.
  ///
  /// A session has an environment on a node as long as requests are inside it there; concurrent requests share the
  /// environment. It is built from the stored values, and finished when the last request has left. State that a bean
  /// does not keep in a `SessionValue` therefore lasts for one request, or for several concurrent ones.
  ///
  /// A request completes when its changes have been saved. A save writes the current values that differ from the stored
  /// ones, including changes by other requests inside so far. A save that finds another save in flight waits for it,
  /// and writes the changes since. After an error of the store the request fails, and so does every other request
  /// inside with changes that no save has written; the next request loads the session anew. Each request gets the
  /// outcome of its own changes: a request whose changes another request has saved succeeds, and so does a request that
  /// changes nothing. Acknowledged changes are never lost, unless a request that has not been acknowledged has
  /// overwritten the same value.
  ///
  /// - Parameters:
  ///   - factory: opens the sessions. They need no scope object; one without an idle time decides where beans are
  ///     released: see `ExecutorScope`, and `LoopScope` of `BeansServer`.
  ///   - store: keeps the sessions between requests, and ends them by its own limits.
  public convenience init(_ factory: EnvironmentFactory<SessionState>, store: any SessionStore) {
    self.init(factory, StoredSessions(factory, store: store))
  }

  /// Creates sessions in a store for the children of one factory in one parent, such as the sessions of one tenant.
  ///
  /// The factory is declared for the children of another factory. Each parent has sessions of its own. They may share a
  /// store: the id of a session of one tenant is unknown for every other tenant.
  ///
  /// - Parameters:
  ///   - factory: opens the sessions, as in the form without a parent.
  ///   - parent: the environment in which the sessions are opened.
  ///   - name: the name of the parent, the same on all nodes and different from the names of all other parents that use
  ///     the store. A colon and the id follow the name in the keys of the store.
  ///   - store: keeps the sessions between requests.
  public convenience init(
    _ factory: EnvironmentFactory<SessionState>, in parent: Environment, named name: String, store: any SessionStore
  ) {
    self.init(factory, StoredSessions(factory, in: parent, named: name, store: store))
  }

  /// Runs `body` inside the session with the id that a client has sent, then saves the changes if there is a store.
  ///
  /// Without an id, or with an unknown one, the session is new. When `body` has changed a `SessionValue`, the session
  /// is kept under an id made here; otherwise it ends. So an id that a client has made up is never adopted. In a store,
  /// an id in a form that no node makes causes no lookup.
  ///
  /// Where `body` throws, nothing is saved, and the session neither ends nor gets another id. In memory, the changes of
  /// a known session stay. In a store, with other requests inside, the changes of `body` before the error may be saved
  /// with theirs. A cancelled task saves all the same.
  ///
  /// `body` runs where the caller does: from a task that prefers a loop, on that loop. In `body`, and in tasks that it
  /// begins, `await shutdown()` of the session or of an environment above begins the end and does not wait.
  ///
  /// - Parameters:
  ///   - id: the id that the client sent, in any form; nil for none.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside. It may be synchronous.
  /// - Returns: the value that `body` returns, and the change of the client's cookie.
  /// - Throws: any error of `body`; any error of `EnvironmentFactory.build`; `.finished` if an end that could not wait
  ///   for `body` has failed the session; `.exhausted` if a new session cannot be kept because the capacity is reached
  ///   and each session is in use. With a store `SessionError`: where `isTemporary`, the client keeps its cookie;
  ///   `.unavailable` of the lookup comes before `body` has run.
  public nonisolated(nonsending) func withSession<R>(
    cookie id: String?, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (SessionHandle) async throws -> R
  ) async throws -> (value: R, cookie: SessionCookie) {
    if let stored { return try await stored.withSession(id, body) }
    if let id, let known = enter(id) {
      defer { left(known) }
      let handle = SessionHandle(known.environment, isNew: false)
      let value = try checked(await known.environment.inside { _ in try await body(handle) }, known)
      return (value, conclude(known, id, handle))
    }
    let (session, state) = try enterNew(file, line)
    let handle = SessionHandle(session, isNew: true)
    var cookie = SessionCookie.unchanged
    defer { finish(session, cookie) }
    let value = try await session.inside { _ in try await body(handle) }
    cookie = try keep(session, state, handle, file, line)
    return (value, cookie)
  }

  /// Runs a synchronous `body` like the asynchronous form. In memory only.
  ///
  /// - Parameters:
  ///   - id: the id that the client sent, in any form; nil for none.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside.
  /// - Returns: the value that `body` returns, and the change of the client's cookie.
  /// - Throws: as the asynchronous form; `.notReady` with a store.
  @_disfavoredOverload
  public func withSession<R>(
    cookie id: String?, file: StaticString = #fileID, line: UInt = #line, _ body: (SessionHandle) throws -> R
  ) throws -> (value: R, cookie: SessionCookie) {
    try checkMemory(file, line)
    if let id, let known = enter(id) {
      defer { left(known) }
      let handle = SessionHandle(known.environment, isNew: false)
      let value = try checked(known.environment.inside { _ in try body(handle) }, known)
      return (value, conclude(known, id, handle))
    }
    let (session, state) = try enterNew(file, line)
    let handle = SessionHandle(session, isNew: true)
    var cookie = SessionCookie.unchanged
    defer { finish(session, cookie) }
    let value = try session.inside { _ in try body(handle) }
    cookie = try keep(session, state, handle, file, line)
    return (value, cookie)
  }

  // MARK: in memory

  /// Ends a known session or replaces its id, where the request has called for that. If concurrent requests rotate the
  /// id, the first one receives the new id: the others came with the old one, which must become worthless.
  private func conclude(_ session: SessionTable.Found, _ id: String, _ handle: SessionHandle) -> SessionCookie {
    if handle.wantsEnd {
      end(session)
      return .removed
    }
    guard handle.wantsRotation, let other = rename(id) else { return .unchanged }
    return .set(other)
  }

  /// Opens and enters a session that no id finds yet.
  private func enterNew(_ file: StaticString, _ line: UInt) throws -> (Environment, SessionState) {
    let state = SessionState()
    let session = try build(state, file, line)
    if !session.tryEnter() { throw endedEarly(file, line) }
    return (session, state)
  }

  /// Keeps a new session, if the request has changed a value and has not ended the session.
  private func keep(
    _ session: Environment, _ state: SessionState, _ handle: SessionHandle, _ file: StaticString, _ line: UInt
  ) throws -> SessionCookie {
    try session.checkBodies()
    if handle.wantsEnd { return .removed }
    if try state.pendingSave() == nil { return .unchanged }
    let id = newId()
    // A child that outlives the request goes on to use the session.
    if !add(session, as: id, isWatched: session.isInUse) { throw exhausted().met(by: .init(file, line)) }
    return .set(id)
  }

  /// Finishes a new session unless it has been kept.
  private func finish(_ session: Environment, _ cookie: SessionCookie) {
    if case .set = cookie { return }
    session.finish()
  }
}
