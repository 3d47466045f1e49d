/// Where sessions are kept between requests, for all nodes of a service.
///
/// A store keeps bytes by name and knows nothing of beans. Each call is one step: nobody sees half of it. A store decides by
/// its own clock, the same for all nodes, when a session has expired, and never hands out one that has.
///
/// Called from any thread, for one session by several nodes at once.
public protocol SessionStore: Sendable {
  /// Keeps a new session, with its expiry.
  ///
  /// - Parameters:
  ///   - id: an id that nobody has had, see `SessionManager`.
  ///   - values: what is kept, by name.
  /// - Returns: its first version.
  /// - Throws: `.tooLarge`; `.ended` where the id is taken; `.unavailable` or `.outcomeUnknown`.
  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64

  /// Looks a session up, and puts its expiry off where that has not been done for a while.
  ///
  /// - Parameters:
  ///   - id: what it is known by.
  ///   - version: the version that the caller has already; nil for none.
  /// - Throws: `.unavailable`: that a session is not there is no error.
  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup

  /// Writes some values of a session that is there, and puts its expiry off, in one step.
  ///
  /// - Returns: the version that the session has now. Where it is not the next one, another node has changed other values.
  /// - Throws: `.ended` where there is no such session: a save never brings one back. `.conflict` and `.tooLarge`, and nothing
  ///   has been written. `.unavailable`: nothing has been written. `.outcomeUnknown`: all of it has been written, or nothing.
  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64

  /// Makes a session known by another id instead of its own. There is no moment at which both are known, or neither.
  ///
  /// - Throws: `.ended` where there is no such session; `.unavailable` or `.outcomeUnknown`.
  func rotate(_ id: String, to other: String) async throws(SessionError)

  /// Ends a session. That there is none is no error.
  ///
  /// - Throws: `.unavailable` or `.outcomeUnknown`.
  func end(_ id: String) async throws(SessionError)
}

/// What a store has found under an id.
public enum SessionLookup: Sendable, Equatable {
  /// No session, or one that has expired.
  case missing
  /// The version that the caller has already.
  case unchanged
  /// A session.
  case found(SessionRecord)
}

/// A session as a store keeps it.
public struct SessionRecord: Sendable, Equatable {
  /// Counts the changes of the session, from 1 on.
  public var version: UInt64
  /// When it was created, in milliseconds since 1970 by the store's clock.
  public var created: Int64
  /// What is kept, by name.
  public var values: [String: Value]

  /// One value of a session.
  public struct Value: Sendable, Equatable {
    /// The version of the session that wrote it.
    public var version: UInt64
    /// What was written.
    public var bytes: [UInt8]

    /// Creates a value that has been read.
    public init(version: UInt64, bytes: [UInt8]) {
      self.version = version
      self.bytes = bytes
    }
  }

  /// Creates a record that has been read.
  ///
  /// - Parameters:
  ///   - version: counts the changes of the session.
  ///   - created: when it was created, in milliseconds since 1970.
  ///   - values: what is kept, by name.
  public init(version: UInt64, created: Int64, values: [String: Value]) {
    self.version = version
    self.created = created
    self.values = values
  }
}

/// What one request, or several that met, have changed in a session.
public struct SessionChange: Sendable, Equatable {
  /// The version of the session that the change was made to.
  public var version: UInt64
  /// The new bytes of what has changed, by name; nil removes a value.
  public var values: [String: [UInt8]?]
  /// The version that was seen of each value that may not be overwritten unseen; 0 for a value that was not there. Where the
  /// session has another version of any of them, nothing is written.
  public var expected: [String: UInt64]

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - version: the version of the session that the change was made to.
  ///   - values: the new bytes of what has changed, by name; nil removes a value.
  ///   - expected: the version that was seen of each value that may not be overwritten unseen.
  public init(version: UInt64, values: [String: [UInt8]?], expected: [String: UInt64] = [:]) {
    self.version = version
    self.values = values
    self.expected = expected
  }
}

/// How long a store keeps sessions, and how large they may be.
public struct SessionLimits: Sendable, Equatable {
  /// How long nobody has to use a session for it to expire.
  public var idleLimit: Duration
  /// How often a use that changes nothing puts the expiry off, at most. A session may expire so much earlier than `idleLimit`.
  public var touchInterval: Duration
  /// The names and bytes of all values of one session together, at most.
  public var maximumBytes: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - idleLimit: how long nobody has to use a session for it to expire; at least a millisecond.
  ///   - touchInterval: how often a use that changes nothing puts the expiry off, at most. A tenth of `idleLimit`, and a minute
  ///     at most, unless given.
  ///   - maximumBytes: the names and bytes of all values of one session together, at most. 1 MiB unless given.
  public init(
    idleLimit: Duration = .seconds(30 * 60), touchInterval: Duration? = nil, maximumBytes: Int = 1 << 20
  ) {
    self.idleLimit = max(idleLimit, .milliseconds(1))
    self.touchInterval = touchInterval ?? min(self.idleLimit / 10, .seconds(60))
    self.maximumBytes = maximumBytes
  }
}
