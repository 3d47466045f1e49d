@_spi(BeansPackage) import BeansErrors
import BeansLogging

extension SessionLimits {
  /// Returns a new store that keeps the values of sessions in the memory of this process, until the process ends. For tests
  /// of a service with a store: without a store, `Sessions` keeps whole sessions in memory.
  ///
  /// - Parameter clock: the clock by which sessions expire; nil for that of the environment that declares the sessions, see
  ///   `Environment.useClock(_:)`.
  public func memoryStore(clock: (any Clock<Duration>)? = nil) -> any SessionStore {
    MemorySessionStore(limits: self, clock: clock)
  }
}

/// A store that keeps the values of sessions in the memory of this process.
///
/// Each other call also removes a few expired sessions. From any thread.
package final class MemorySessionStore: SessionStore {
  private let limits: SessionLimits
  /// The clock by which sessions expire.
  let clock: SessionClock
  private let state = Locked(State())

  private struct Entry {
    var record: SessionRecord
    var expiry: Duration
    /// The last time at which the expiry was postponed.
    var touched: Duration
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var due = DueSessions()
  }

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - limits: the lifetime and the size of sessions.
  ///   - clock: the clock by which sessions expire; nil for that of the environment that declares the sessions,
  ///     see `Environment.useClock(_:)`.
  package init(limits: SessionLimits = SessionLimits(), clock: (any Clock<Duration>)? = nil) {
    self.limits = limits
    self.clock = SessionClock(clock)
  }

  /// The number of sessions in memory, including expired sessions that are not yet removed.
  package var count: Int { state.withLock { $0.entries.count } }

  /// Stores a new session, with its expiry.
  ///
  /// - Throws: `.tooLarge`; `.ended` where the id is taken.
  package func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    let now = clock.now
    let record = SessionRecord(
      version: 1, created: clock.epoch + Int64(now / .milliseconds(1)),
      values: values.mapValues { SessionRecord.Value(version: 1, bytes: $0) })
    try check(record)
    let isTaken = state.withLock { state in
      sweep(&state, now)
      if find(id, &state, now) != nil { return true }
      insert(Entry(record: record, expiry: now + limits.idleLimit, touched: now), id, &state)
      return false
    }
    if isTaken { throw .ended }
    return 1
  }

  /// Looks up a session. Postpones its expiry where `SessionLimits.touchInterval` has passed since the last time.
  ///
  /// - Throws: Nothing.
  package func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    let now = clock.now
    return state.withLock { state in
      sweep(&state, now)
      guard let entry = find(id, &state, now) else { return .missing }
      if now - entry.touched >= limits.touchInterval { touch(id, &state, now) }
      return entry.record.version == version ? .unchanged : .found(entry.record)
    }
  }

  /// Writes some values of an existing session, and postpones its expiry.
  ///
  /// - Returns: the new version of the session.
  /// - Throws: `.ended`, `.conflict` or `.tooLarge`. Nothing has been written in these cases.
  package func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    let now = clock.now
    return try state.withLock { state throws(SessionError) in
      sweep(&state, now)
      guard var record = find(id, &state, now)?.record else { throw .ended }
      let refused = change.expected.filter { name, version in record.values[name]?.version ?? 0 != version }
      if !refused.isEmpty { throw .conflict(refused.keys.sorted()) }
      record.version += 1
      for (name, bytes) in change.values {
        record.values[name] = bytes.map { SessionRecord.Value(version: record.version, bytes: $0) }
      }
      try check(record)
      state.entries[id]?.record = record
      touch(id, &state, now)
      return record.version
    }
  }

  /// Replaces the id of a session.
  ///
  /// - Throws: `.ended` where no such session exists.
  package func rotate(_ id: String, to other: String) async throws(SessionError) {
    let now = clock.now
    let isMissing = state.withLock { state in
      sweep(&state, now)
      guard let entry = find(id, &state, now) else { return true }
      state.entries[id] = nil
      insert(entry, other, &state)
      return false
    }
    if isMissing { throw .ended }
  }

  /// Ends a session.
  ///
  /// - Throws: Nothing.
  package func end(_ id: String) async throws(SessionError) { state.withLock { $0.entries[id] = nil } }

  private func check(_ record: SessionRecord) throws(SessionError) {
    let bytes = record.values.reduce(0) { $0 + $1.key.utf8.count + $1.value.bytes.count }
    if bytes > limits.maximumBytes { throw .tooLarge(bytes: bytes, limit: limits.maximumBytes) }
  }

  // MARK: under the lock

  private func find(_ id: String, _ state: inout State, _ now: Duration) -> Entry? {
    guard let entry = state.entries[id] else { return nil }
    if entry.expiry > now { return entry }
    state.entries[id] = nil
    return nil
  }

  private func insert(_ entry: Entry, _ id: String, _ state: inout State) {
    state.entries[id] = entry
    state.due.append(id, at: entry.expiry)
  }

  private func touch(_ id: String, _ state: inout State, _ now: Duration) {
    state.entries[id]?.touched = now
    state.entries[id]?.expiry = now + limits.idleLimit
  }

  /// Examines at most two sessions. A call adds fewer, so expired sessions do not pile up.
  private func sweep(_ state: inout State, _ now: Duration) {
    for _ in 0..<2 {
      guard let id = state.due.popFirst(upTo: now) else { return }
      guard let entry = find(id, &state, now) else { continue }
      // The session has been used since.
      state.due.append(id, at: entry.expiry)
    }
  }
}

/// Ids of sessions, each with the time at which to check its expiry, in order of time because all sessions have the
/// same idle limit.
private struct DueSessions {
  private var ids: [(id: String, time: Duration)] = []
  private var first = 0

  mutating func append(_ id: String, at time: Duration) { ids.append((id, time)) }

  mutating func popFirst(upTo now: Duration) -> String? {
    guard first < ids.count, ids[first].time <= now else { return nil }
    defer {
      first += 1
      if first * 2 > ids.count {
        ids.removeFirst(first)
        first = 0
      }
    }
    return ids[first].id
  }
}
