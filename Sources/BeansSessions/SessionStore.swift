/// A store that keeps sessions between requests, for all nodes of a service.
///
/// A store maps names to bytes and does not depend on beans. Each call is atomic: no other call sees half of it. The
/// store determines by its own clock, the same for all nodes, when a session has expired, and never returns an expired
/// session.
///
/// Called from any thread, for one session by several nodes at once.
public protocol SessionStore: Sendable {
  /// Stores a new session, with its expiry.
  ///
  /// - Parameters:
  ///   - id: an id that has never been used, as `Sessions.newId()` makes it.
  ///   - values: the bytes to store, by name.
  /// - Returns: the first version of the session.
  /// - Throws: `.tooLarge`; `.ended` where the id is taken; `.unavailable` or `.outcomeUnknown`.
  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64

  /// Looks up a session. Postpones its expiry where `SessionLimits.touchInterval` has passed since the last time.
  ///
  /// - Parameters:
  ///   - id: the id of the session.
  ///   - version: the version that the caller has already; nil for none.
  /// - Throws: `.unavailable`. A missing session is not an error.
  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup

  /// Writes some values of an existing session and postpones its expiry, in one step.
  ///
  /// - Returns: the new version of the session. Where it is not the successor of the caller's version, another node has
  ///   changed other values.
  /// - Throws: `.ended` where no such session exists: a save never recreates a session. `.conflict` and `.tooLarge`:
  ///   nothing has been written. `.unavailable`: nothing has been written. `.outcomeUnknown`: all of it has been
  ///   written, or nothing.
  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64

  /// Replaces the id of a session, in one step. At each moment, exactly one of the two ids is valid.
  ///
  /// - Throws: `.ended` where no such session exists; `.unavailable` or `.outcomeUnknown`.
  func rotate(_ id: String, to other: String) async throws(SessionError)

  /// Ends a session. A missing session is not an error.
  ///
  /// - Throws: `.unavailable` or `.outcomeUnknown`.
  func end(_ id: String) async throws(SessionError)
}

/// The result of a lookup in a store.
public enum SessionLookup: Sendable, Equatable {
  /// No session, or one that has expired.
  case missing
  /// The session has the version that the caller has already.
  case unchanged
  /// A session.
  case found(SessionRecord)
}

/// A session as stored.
public struct SessionRecord: Sendable, Equatable {
  /// The version: the number of changes of the session, from 1 on.
  public var version: UInt64
  /// The creation time, in milliseconds since 1970 by the store's clock.
  package var created: Int64
  /// The stored values, by name.
  public var values: [String: Value]

  /// One value of a session.
  public struct Value: Sendable, Equatable {
    /// The version of the session that wrote the value.
    public var version: UInt64
    /// The written bytes.
    public var bytes: [UInt8]

    /// Creates a value from stored data.
    public init(version: UInt64, bytes: [UInt8]) {
      self.version = version
      self.bytes = bytes
    }
  }

  /// Creates a record from stored data.
  ///
  /// - Parameters:
  ///   - version: the number of changes of the session, from 1 on.
  ///   - created: the creation time, in milliseconds since 1970.
  ///   - values: the stored values, by name.
  public init(version: UInt64, created: Int64, values: [String: Value]) {
    self.version = version
    self.created = created
    self.values = values
  }
}

/// The changes of a session by one request, or by several concurrent ones.
public struct SessionChange: Sendable, Equatable {
  /// The version of the session to which the change was made.
  public var version: UInt64
  /// The new bytes of each changed value, by name; nil removes a value.
  public var values: [String: [UInt8]?]
  /// The version that was read of each value whose concurrent changes must not be overwritten; 0 for a missing value.
  /// Where the session has another version of any of these values, nothing is written.
  public var expected: [String: UInt64]
  /// The version of each value as of `version`, by name, where the caller has read exactly that version of the session;
  /// 0 for a missing value. A store may use it to look at less; it is empty where it is not known.
  package var seen: [String: UInt64] = [:]

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - version: the version of the session to which the change was made.
  ///   - values: the new bytes of each changed value, by name; nil removes a value.
  ///   - expected: the version that was read of each value whose concurrent changes must not be overwritten.
  public init(version: UInt64, values: [String: [UInt8]?], expected: [String: UInt64] = [:]) {
    self.version = version
    self.values = values
    self.expected = expected
  }
}

/// The lifetime and the size of sessions in a store.
public struct SessionLimits: Sendable, Equatable {
  /// The time without use after which a session expires.
  package var idleLimit: Duration
  /// The shortest time between two postponements of the expiry by uses that change nothing. A session may expire
  /// earlier than `idleLimit` by this time.
  package var touchInterval: Duration
  /// The maximum of the bytes of all names and values of one session together.
  package var maximumBytes: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - idleLimit: the time without use after which a session expires; at least a millisecond.
  ///   - touchInterval: the shortest time between two postponements of the expiry by uses that change nothing. A tenth
  ///     of `idleLimit`, and at most a minute, unless given.
  ///   - maximumBytes: the maximum of the bytes of all names and values of one session together. 1 MiB unless given.
  public init(
    idleLimit: Duration = .seconds(30 * 60), touchInterval: Duration? = nil, maximumBytes: Int = 1 << 20
  ) {
    self.idleLimit = max(idleLimit, .milliseconds(1))
    self.touchInterval = touchInterval ?? min(self.idleLimit / 10, .seconds(60))
    self.maximumBytes = maximumBytes
  }
}
