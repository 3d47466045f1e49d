public import Beans
@_spi(BeansPackage) import BeansErrors

extension Sessions {
  /// Returns the session with that id, opened if needed. In memory only. Several threads that open one id get one
  /// session: the seed is evaluated once, and the other threads block until the session is open.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: the errors of `EnvironmentFactory.build` and `seed`, to all waiting callers; the next call tries again.
  ///   `.exhausted` if the capacity is reached and each session is in use; `.cyclicDependency` if opening the session
  ///   waits for itself; `.notReady` with a store.
  public func open(
    _ id: String, _ seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Environment {
    try acquire(id, entering: false, file, line, seed).environment
  }

  /// Adds a session that was built by the factory itself, such as one that turned out to be worth keeping. In memory
  /// only.
  ///
  /// - Parameters:
  ///   - session: an environment of the factory.
  ///   - id: the id of the session.
  ///   - limit: the maximum number of sessions for this call.
  ///   - isWatched: true if the session may be used without the knowledge of the table.
  /// - Returns: false, without any effect, if there are `limit` sessions, if the id is taken, if the capacity is
  ///   reached and each session is in use, if the session has another parent than this object's, or with a store.
  package func add(_ session: Environment, as id: String, limit: Int = .max, isWatched: Bool = true) -> Bool {
    guard stored == nil, isInParent(session) else { return false }
    let claim = atPresent { state -> Claim? in
      if state.table.count + state.openings.count >= limit { return nil }
      return place(for: id, entering: false, &state)
    }
    guard case .own(let opening, let evicted) = claim else { return false }
    evicted?.finish(by: .evicted)
    _ = list(session, as: id, opening, isWatched: isWatched)
    return true
  }

  /// Adds a session that was built by the factory itself, under a new id. In memory only.
  ///
  /// - Parameters:
  ///   - session: the session, built by the factory.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Returns: the id, as `newId()` makes it.
  /// - Throws: `.exhausted`, without any effect, as `open`; `.scopeNotActive` if the session has another parent than
  ///   this object's; `.notReady` with a store.
  public func add(
    _ session: Environment, file: StaticString = #fileID, line: UInt = #line
  ) throws -> String {
    try checkMemory(file, line)
    guard isInParent(session) else {
      throw EnvironmentError(
        .scopeNotActive,
        "the session was opened in another parent than '\(parent?.name ?? "")', the parent of these sessions",
        path: ["'\(factory.scopeName)'"]
      ).met(by: .init(file, line))
    }
    let id = newId()
    if !add(session, as: id) { throw exhausted().met(by: .init(file, line)) }
    return id
  }

  private func isInParent(_ session: Environment) -> Bool { parent == nil || session.parent === parent }

  /// The outcome of a request for a session.
  private enum Claim {
    case found(SessionTable.Found)
    case awaited(SessionOpening)
    /// The caller opens the session, after the end of the evicted one.
    case own(SessionOpening, evicted: Environment?)
    case exhausted
  }

  /// Returns the session with that id, opened if needed and entered if `entering`.
  func acquire(
    _ id: String, entering: Bool, _ file: StaticString, _ line: UInt, _ seed: () throws -> Seed
  ) throws -> SessionTable.Found {
    try checkMemory(file, line)
    while true {
      switch atPresent({ place(for: id, entering: entering, &$0) }) {
      case .found(let session): return session
      case .awaited(let opening):
        let session: SessionTable.Found
        do { session = try opening.wait(in: factory.scopeName) } catch let error as EnvironmentError {
          throw error.met(by: .init(file, line))
        }
        if entering ? session.environment.tryEnter() : !session.environment.isFinished { return session }
      case .own(let opening, let evicted):
        evicted?.finish(by: .evicted)
        return try open(id, opening, entering: entering, file, line, seed)
      case .exhausted: throw exhausted().met(by: .init(file, line))
      }
    }
  }

  /// Decides the outcome of a request. Called under the lock. An opening takes its place in the capacity before
  /// anything is built.
  private func place(for id: String, entering: Bool, _ state: inout State) -> Claim {
    if let session = state.table.find(id, entering: entering) { return .found(session) }
    if let opening = state.openings[id] {
      opening.expectWaiting()
      return .awaited(opening)
    }
    // A session with that id may be ending.
    _ = state.table.unlist(id)
    var evicted: Environment?
    if let capacity, state.table.count + state.openings.count >= capacity {
      guard case .one(let closed) = state.table.makeRoom() else { return .exhausted }
      evicted = closed
    }
    let opening = SessionOpening()
    state.openings[id] = opening
    return .own(opening, evicted: evicted)
  }

  private func open(
    _ id: String, _ opening: SessionOpening, entering: Bool, _ file: StaticString, _ line: UInt,
    _ seed: () throws -> Seed
  ) throws -> SessionTable.Found {
    do {
      let session = try build(try seed(), file, line)
      if entering, !session.tryEnter() { throw endedEarly(file, line) }
      return list(session, as: id, opening, isWatched: !entering)
    } catch {
      state.withLock { $0.openings[id] = nil }
      opening.end(.failure(error))
      throw error
    }
  }

  /// Lists a session, and removes it when it ends.
  private func list(
    _ session: Environment, as id: String, _ opening: SessionOpening, isWatched: Bool
  ) -> SessionTable.Found {
    observer?(.opened(id))
    let found = atPresent { state in
      state.openings[id] = nil
      state.counts.opened += 1
      return state.table.insert(session, as: id, isWatched: isWatched)
    }
    opening.end(.success(found))
    // This object may be released before its sessions.
    session.whenFinished { [weak self] in self?.remove(found.index) }
    return found
  }

  /// Builds a session that no id finds yet.
  func build(_ seed: Seed, _ file: StaticString, _ line: UInt) throws -> Environment {
    try parent.map { try factory.build(seed, in: $0, file: file, line: line) }
      ?? factory.build(seed, file: file, line: line)
  }

  func endedEarly(_ file: StaticString, _ line: UInt) -> EnvironmentError {
    EnvironmentError(
      cause: .endedSession, "a session ended while it was being opened", path: ["'\(factory.scopeName)'"],
      origin: .init(file, line))
  }
}
