import BeansSessions
import Synchronization

/// What stores of sessions get wrong.
enum StoreMistake: CaseIterable, Sendable {
  /// A save of a session that is gone creates it.
  case revives
  /// A save writes all values, as they were read.
  case writesWholeSessions
  /// A new id is one more.
  case keepsOldIds
  /// Nobody is told that others have changed the same value.
  case ignoresConflicts
  /// The next version whatever others have written.
  case answersTheNextVersion
}

/// A store that does one thing wrong.
final class NaiveStore: SessionStore {
  private let inner: MemorySessionStore
  private let mistake: StoreMistake
  /// What has been read, by id and version.
  private let read = Mutex<[String: [UInt64: SessionRecord]]>([:])

  init(_ inner: MemorySessionStore, _ mistake: StoreMistake) { (self.inner, self.mistake) = (inner, mistake) }

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await inner.create(id, values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    let found = try await inner.load(id, unlessVersion: version)
    if case .found(let record) = found { read.withLock { $0[id, default: [:]][record.version] = record } }
    return found
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    var change = change
    if mistake == .ignoresConflicts { change.expected = [:] }
    if mistake == .writesWholeSessions, let record = read.withLock({ $0[id]?[change.version] }) {
      change.values.merge(record.values.mapValues(\.bytes)) { changed, _ in changed }
    }
    do throws(SessionError) {
      let version = try await inner.save(id, change)
      return mistake == .answersTheNextVersion ? change.version + 1 : version
    } catch .ended where mistake == .revives {
      return try await inner.create(id, change.values.compactMapValues { $0 })
    }
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    guard mistake == .keepsOldIds else { return try await inner.rotate(id, to: other) }
    guard case .found(let record) = try await inner.load(id, unlessVersion: nil) else { throw .ended }
    _ = try await inner.create(other, record.values.mapValues(\.bytes))
  }

  func end(_ id: String) async throws(SessionError) { try await inner.end(id) }
}
