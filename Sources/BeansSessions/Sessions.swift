public import Beans
@_spi(BeansPackage) import BeansErrors

/// The sessions of a service, by id: in memory, or in a store.
///
/// ```swift
/// let sessions = Sessions(factory, capacity: 100_000, idleLimit: .seconds(1_800))
/// let answer = try await sessions.withSession(cookie: cookie) { session in
///   try requests.withChild(request, in: session.environment, respond)
/// }
/// ```
///
/// Without a store a session lives in memory from its opening to its end, with all of its beans. It is removed when it
/// ends, for any reason: after an idle time that this object or the session's scope measures, by its eviction, or by a
/// call. This needs neither a scope object nor an event loop: one timer on a clock serves all sessions.
///
/// With a store, whose sessions all nodes of a service share, a session has an environment on a node as long as
/// requests are inside it there: see ``init(_:store:)``. The calls are the same, but have to be awaited, and the store
/// opens sessions under ids of its own only: each other call throws `.notReady`.
///
/// With a capacity, opening a session beyond it evicts the least recently used session that is not in use. A session is
/// in use during `withSession`, during a lookup that builds something, and while a child environment is live: it is
/// then neither evicted nor ended by its idle time. With an idle limit, the time of last use is that of the last lookup
/// in this object, or of the end of the last `withSession`. Without a limit, the scope of a session decides it (see
/// `SessionScope`); if the scope measures no idle time, it is that of the last lookup in this object.
///
/// Safe from any thread. No lock is held while a session is built or released, while the observer or the clock runs, or
/// during a call of the store.
public final class Sessions<Seed>: Sendable {
  /// The maximum number of sessions; nil for any number.
  let capacity: Int?
  let factory: EnvironmentFactory<Seed>
  /// The environment in which the sessions are opened; nil for the one that the factory finds.
  let parent: Environment?
  let observer: (@Sendable (SessionEvent) -> Void)?
  /// The timer of the idle limit; nil without a limit.
  let timer: SessionTimer?
  /// The sessions that a store keeps; nil without a store. The rest of this object is unused with one.
  let stored: StoredSessions?
  let state: Locked<State>

  struct State {
    var table: SessionTable
    var openings: [String: SessionOpening] = [:]
    /// All counts except `open`.
    var counts: ScopeStatistics
  }

  /// Creates sessions in memory, which are the children of one factory.
  ///
  /// - Parameters:
  ///   - factory: the factory of the sessions.
  ///   - parent: the environment in which the sessions are opened, such as that of a tenant, if the factory has been
  ///     declared for the children of another factory. Each parent has sessions of its own, so that the id of a
  ///     session of one tenant is unknown in every other one. Without a parent, a session is opened in the current
  ///     environment, and is found from any other.
  ///   - capacity: the maximum number of sessions, including those being opened; nil for any number. See `statistics()`.
  ///   - idleLimit: the time without use after which a session ends, at least a millisecond; nil for no limit by this
  ///     object. `find`, `open`, `withSession` until its `body` has ended, and a live child are uses; a lookup in the
  ///     session alone is none. The end of a child that outlives `withSession` is noticed within an eighth of the
  ///     limit, by which such a session may live longer. A task ends the session, and releases its beans unless
  ///     the scope of the session has another place for that: see `ExecutorScope`.
  ///   - clock: the clock of the idle limit; nil for that of the environment that declares the factory, see
  ///     `Environment.useClock(_:)`.
  ///   - onEvent: the observer of all sessions, called outside of all locks; `SessionEvent` documents the threads. Must
  ///     be fast: it delays the opening of a session, or the release of beans that end together with it. May call
  ///     this object.
  public init(
    _ factory: EnvironmentFactory<Seed>, in parent: Environment? = nil, capacity: Int? = nil,
    idleLimit: Duration? = nil, clock: (any Clock<Duration>)? = nil,
    onEvent: (@Sendable (SessionEvent) -> Void)? = nil
  ) {
    self.factory = factory
    self.parent = parent
    self.capacity = capacity
    observer = onEvent
    stored = nil
    let time = SessionClock(clock)
    time.follow { parent?.clock ?? factory.clock }
    timer = idleLimit.map { _ in SessionTimer(time) }
    state = Locked(
      State(
        table: SessionTable(isOrdered: capacity != nil, idleLimit: idleLimit.map(SessionTable.nanoseconds)),
        counts: ScopeStatistics(scope: factory.scopeName)))
  }

  /// Creates sessions in a store.
  init(_ factory: EnvironmentFactory<Seed>, _ stored: StoredSessions) {
    self.factory = factory
    self.stored = stored
    (parent, capacity, observer, timer) = (nil, nil, nil, nil)
    state = Locked(
      State(
        table: SessionTable(isOrdered: false, idleLimit: nil), counts: ScopeStatistics(scope: factory.scopeName)))
  }

  /// Whether a store keeps the sessions, so that each use has to be awaited.
  public var hasStore: Bool { stored != nil }

  /// Returns a new, unguessable id: 128 bits from the system's generator, as 32 hexadecimal digits.
  ///
  /// For a visitor without a known id: a service that adopts the id of a client lets that client choose the id of
  /// another one. Two system calls.
  public func newId() -> String { UnguessableId.make() }

  // MARK: faults

  func exhausted() -> EnvironmentError {
    EnvironmentError(
      .exhausted,
      "the capacity is \(capacity ?? 0), and every session is in use: none can be evicted",
      path: ["'\(factory.scopeName)'"])
  }

  /// The message omits the id, which is a secret.
  func unknown(_ file: StaticString, _ line: UInt) -> EnvironmentError {
    EnvironmentError(
      cause: .unknownSession,
      "there is no session of that id: it has ended, has got another id, or has never been opened",
      path: ["'\(factory.scopeName)'"], origin: .init(file, line))
  }

  /// Throws an error for a call that a store cannot serve.
  func checkMemory(_ file: StaticString, _ line: UInt) throws {
    if stored == nil { return }
    throw EnvironmentError(
      cause: .storedSession,
      "the sessions are in a store: each use has to be awaited, and none is opened under an id from elsewhere",
      path: ["'\(factory.scopeName)'"], origin: .init(file, line))
  }
}
