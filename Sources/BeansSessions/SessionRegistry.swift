public import Beans
@_spi(BeansPackage) import BeansSupport

/// The sessions of a service, by id. A session is removed when it ends, for any reason.
///
/// ```swift
/// let sessions = SessionRegistry(factory, capacity: 100_000)
/// let answer = try sessions.withSession(cookie) { session in try requests.withChild(request, in: session, respond) }
/// ```
///
/// A session ends after an idle time that the registry or the session's scope measures. The registry needs neither a
/// scope object nor an event loop for it: one timer on a clock serves all sessions.
///
/// ```swift
/// let factory = try shop.childFactory("session", seed: Void.self) { try $0.define($0.bean(Cart.self, factory: Cart.init)) }
/// let sessions = SessionRegistry(factory, capacity: 10_000, idleLimit: .seconds(1_800))
/// ```
///
/// With a capacity, opening a session beyond it evicts the least recently used session that is not in use. A session is
/// in use during `withSession`, during a lookup that builds something, and while a child environment is live: it is
/// then neither evicted nor ended by its idle time. With an idle limit, the time of last use is that of the last lookup
/// in the registry, or of the end of the last `withSession`. Without a limit, the scope of a session decides it (see
/// `SessionScope`); if the scope measures no idle time, it is that of the last lookup in the registry.
///
/// Safe from any thread. No lock is held while a session is built or released, or while the observer or the clock runs.
public final class SessionRegistry<Seed>: Sendable {
  /// The maximum number of sessions; nil for any number.
  public let capacity: Int?
  let factory: EnvironmentFactory<Seed>
  /// The environment in which the sessions are opened; nil for the one that the factory finds.
  private let parent: Environment?
  private let observer: (@Sendable (SessionEvent) -> Void)?
  /// The timer of the idle limit; nil without a limit.
  let timer: SessionTimer?
  let state: Locked<State>

  struct State {
    var table: SessionTable
    var openings: [String: SessionOpening] = [:]
    /// All counts except `open`.
    var counts = SessionCounts()
  }

  /// The outcome of a request for a session.
  private enum Claim {
    case found(SessionTable.Found)
    case awaited(SessionOpening)
    /// The caller opens the session, after the end of the evicted one.
    case own(SessionOpening, evicted: Environment?)
    case exhausted
  }

  /// Creates a registry for the children of one factory.
  ///
  /// - Parameters:
  ///   - factory: the factory of the sessions.
  ///   - parent: the environment in which the sessions are opened, such as that of a tenant, if the factory has been
  ///     declared for the children of another factory. Each parent has a registry of its own, so that the id of a
  ///     session of one tenant is unknown in every other one. Without a parent, a session is opened in the current
  ///     environment, and the registry finds it from any other.
  ///   - capacity: the maximum number of sessions, including those being opened; nil for any number. See `count`.
  ///   - idleLimit: the time without use after which a session ends, at least a millisecond; nil for no limit by the
  ///     registry. `find`, `open`, `withSession` until its `body` has ended, and a live child are uses; a lookup in the
  ///     session alone is none. The registry notices the end of a child that outlives `withSession` within an eighth of
  ///     the limit, by which such a session may live longer. A task ends the session, and releases its beans unless
  ///     the scope of the session has another place for that: see `ExecutorScope`.
  ///   - clock: the clock of the idle limit; nil for that of the environment that declares the factory, see
  ///     `Environment.useClock(_:)`.
  ///   - onEvent: the observer of all sessions, called outside of all locks; `SessionEvent` documents the threads. Must
  ///     be fast: it delays the opening of a session, or the release of beans that end together with it. May call the
  ///     registry.
  public init(
    _ factory: EnvironmentFactory<Seed>, in parent: Environment? = nil, capacity: Int? = nil,
    idleLimit: Duration? = nil, clock: (any Clock<Duration>)? = nil,
    onEvent: (@Sendable (SessionEvent) -> Void)? = nil
  ) {
    self.factory = factory
    self.parent = parent
    self.capacity = capacity
    observer = onEvent
    let time = SessionClock(clock)
    time.follow { parent?.clock ?? factory.clock }
    timer = idleLimit.map { _ in SessionTimer(time) }
    state = Locked(
      State(table: SessionTable(isOrdered: capacity != nil, idleLimit: idleLimit.map(SessionTable.nanoseconds))))
  }

  // MARK: using a session

  /// Returns the session with that id, or nil if there is none or it is ending.
  ///
  /// The session may end at any time after that; `withSession` keeps it alive.
  public func find(_ id: String) -> Environment? { atPresent { $0.table.find(id, entering: false)?.environment } }

  /// Runs `body` inside of the session with that id, so that the session is neither evicted nor ended by its idle time.
  ///
  /// After an explicit end, such as `end(_:)` or that of the application, lookups in `body` throw `.finished`; beans
  /// are released after `body`. A deadline of the session, and the limit of a shutdown, do not wait for `body`. A
  /// `shutdown()` of the session from inside `body` begins the end and does not wait.
  ///
  /// - Returns: the result of `body`; nil, without a call of it, if there is no such session or it is ending.
  /// - Throws: the error that `body` throws; `.finished` if an end that could not wait for `body` has failed the session.
  @_disfavoredOverload
  public func withSession<R>(_ id: String, _ body: (Environment) throws -> R) throws -> R? {
    guard let session = enter(id) else { return nil }
    defer { left(session) }
    return try checked(session.environment.inside(body), session)
  }

  /// Runs an asynchronous `body` like the synchronous form, on the caller's actor. In `body`, and in tasks that it
  /// begins, `await shutdown()` of the session or of one above it begins the end and does not wait; a synchronous
  /// `shutdown()` would wait for itself.
  ///
  /// - Throws: as the synchronous form.
  public nonisolated(nonsending) func withSession<R>(
    _ id: String, _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R? {
    guard let session = enter(id) else { return nil }
    defer { left(session) }
    return try checked(await session.environment.inside(body), session)
  }

  /// Runs `body` inside of the session with that id, which is opened if needed.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside, as in the form without a seed.
  /// - Throws: the errors of `open` and `body`; `.finished` if the new session's scope has ended it before `body`
  ///   began, or if an end that could not wait for `body` has failed the session.
  @_disfavoredOverload
  public func withSession<R>(
    _ id: String, opening seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Environment) throws -> R
  ) throws -> R {
    let session = try acquire(id, entering: true, file, line, seed)
    defer { left(session) }
    return try checked(session.environment.inside(body), session)
  }

  /// Runs an asynchronous `body` like the synchronous form. It runs on the caller's actor, and may use its state.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  ///   - body: runs inside, as in the form without a seed.
  /// - Throws: as the synchronous form.
  public nonisolated(nonsending) func withSession<R>(
    _ id: String, opening seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) (Environment) async throws -> R
  ) async throws -> R {
    let session = try acquire(id, entering: true, file, line, seed)
    defer { left(session) }
    return try checked(await session.environment.inside(body), session)
  }

  /// Returns the result of a body, unless an end that could not wait for the body has failed the session.
  private func checked<R>(_ result: R, _ session: SessionTable.Found) throws -> R {
    try session.environment.checkBodies()
    return result
  }

  private func enter(_ id: String) -> SessionTable.Found? { atPresent { $0.table.find(id, entering: true) } }

  /// Notes the end of a use, from which the idle time is measured.
  private func left(_ session: SessionTable.Found) {
    if timer != nil { atPresent { $0.table.leave(session) } }
  }

  // MARK: opening

  /// Returns the session with that id, opened if needed. Several threads that open one id get one session: the seed is
  /// evaluated once, and the other threads block until the session is open.
  ///
  /// - Parameters:
  ///   - id: the id of the session. Never an unknown one that a client has sent: see `newId()`.
  ///   - seed: the seed of a new session; evaluated only to open one.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: the errors of `EnvironmentFactory.build` and `seed`, to all waiting callers; the next call tries again.
  ///   `.exhausted` if the capacity is reached and each session is in use; `.cyclicDependency` if opening the session
  ///   waits for itself.
  public func open(
    _ id: String, _ seed: @autoclosure () throws -> Seed, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Environment {
    try acquire(id, entering: false, file, line, seed).environment
  }

  /// Adds a session that was built without the registry, such as one that turned out to be worth keeping.
  ///
  /// - Parameters:
  ///   - session: an environment of the registry's factory.
  ///   - id: the id of the session in the registry.
  ///   - limit: the maximum number of sessions for this call.
  /// - Returns: false, without any effect, if there are `limit` sessions, if the id is taken, if the capacity is
  ///   reached and each session is in use, or if the session has another parent than the registry's.
  public func add(_ session: Environment, as id: String, limit: Int = .max) -> Bool {
    guard isInParent(session) else { return false }
    let claim = atPresent { state -> Claim? in
      if state.table.count + state.openings.count >= limit { return nil }
      return place(for: id, entering: false, &state)
    }
    guard case .own(let opening, let evicted) = claim else { return false }
    evicted?.finish(by: .evicted)
    _ = list(session, as: id, opening, isWatched: true)
    return true
  }

  /// Adds a session that was built without the registry, under a new id.
  ///
  /// - Parameters:
  ///   - session: the session, built without the registry.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Returns: the id, as `newId()` makes it.
  /// - Throws: `.exhausted`, without any effect, as `open`; `.scopeNotActive` if the session has another parent than
  ///   the registry's.
  public func add(
    _ session: Environment, file: StaticString = #fileID, line: UInt = #line
  ) throws -> String {
    guard isInParent(session) else {
      throw EnvironmentError(
        .scopeNotActive,
        "the session was opened in another parent than '\(parent?.name ?? "")', the parent of this registry",
        path: ["'\(factory.scopeName)'"]
      ).met(by: .init(file, line))
    }
    let id = newId()
    if !add(session, as: id) { throw exhausted().met(by: .init(file, line)) }
    return id
  }

  private func isInParent(_ session: Environment) -> Bool { parent == nil || session.parent === parent }

  private func acquire(
    _ id: String, entering: Bool, _ file: StaticString, _ line: UInt, _ seed: () throws -> Seed
  ) throws -> SessionTable.Found {
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
      let seed = try seed()
      let session =
        try parent.map { try factory.build(seed, in: $0, file: file, line: line) }
        ?? factory.build(seed, file: file, line: line)
      if entering, !session.tryEnter() {
        throw EnvironmentError(
          cause: .endedSession, "a session ended while it was being opened", path: ["'\(factory.scopeName)'"],
          origin: .init(file, line))
      }
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
    // The registry may be released before its sessions.
    session.whenFinished { [weak self] in self?.remove(found.index) }
    return found
  }

  private func exhausted() -> EnvironmentError {
    EnvironmentError(
      .exhausted,
      "the capacity is \(capacity ?? 0), and every session is in use: none can be evicted",
      path: ["'\(factory.scopeName)'"])
  }

  // MARK: ids

  /// Returns a new, unguessable id: 128 bits from the system's generator, as 32 hexadecimal digits.
  ///
  /// For a visitor without a known id: a service that adopts the id of a client lets that client choose the id of
  /// another one. Two system calls.
  public func newId() -> String { UnguessableId.make() }

  /// Replaces the id of a session, such as at a login or a checkout: an attacker who has learnt or planted the old id
  /// cannot use the session any longer.
  ///
  /// The environment, its beans and its idle time are unaffected. The two ids are exchanged atomically.
  ///
  /// - Parameters:
  ///   - id: the current id of the session.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Returns: the new id, as `newId()` makes it. It has to reach the client.
  /// - Throws: `.finished` if there is no such session or it is ending.
  public func rotate(_ id: String, file: StaticString = #fileID, line: UInt = #line) throws -> String {
    let other = newId()
    let session = state.withLock { state in
      let session = state.table.rename(id, to: other)
      if session != nil { state.counts.rotated += 1 }
      return session
    }
    guard let session else {
      // The message omits the id, which is a secret.
      throw EnvironmentError(
        cause: .unknownSession,
        "there is no session of that id: it has ended, has got another id, or has never been opened",
        path: ["'\(factory.scopeName)'"], origin: .init(file, line))
    }
    // The session is in use here, so that its end is reported later.
    defer { session.leaveBody() }
    observer?(.rotated(from: id, to: other))
    return other
  }

  // MARK: the end

  /// Ends the session with that id, such as on logout. Its id is unknown from then on. Does not wait for its loop.
  public func end(_ id: String) { state.withLock { $0.table.unlist(id) }?.finish(by: .registry) }

  private func remove(_ index: Int32) {
    let removed = state.withLock { state in
      let removed = state.table.remove(index)
      switch removed?.0 {
      case .expired: state.counts.expired += 1
      case .evicted: state.counts.evicted += 1
      default: state.counts.ended += 1
      }
      return removed
    }
    if let (event, _) = removed { observer?(event) }
  }
}
