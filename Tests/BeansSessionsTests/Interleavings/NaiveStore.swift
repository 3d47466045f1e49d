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
  /// What has expired is found all the same.
  case showsExpired
  /// A save that makes a session too large is dropped, and nobody is told.
  case hidesLimits

  /// Which promise it breaks.
  var broken: Promise {
    switch self {
    case .revives: .endedStaysEnded
    case .writesWholeSessions: .differentValuesSurvive
    case .keepsOldIds: .rotationIsOneStep
    case .ignoresConflicts: .conflictIsTold
    case .answersTheNextVersion: .othersAreTold
    case .showsExpired: .expiredIsNotShown
    case .hidesLimits: .sizeIsLimited
    }
  }
}

/// A store that does one thing wrong.
final class NaiveStore: SessionStore {
  private let inner: any SessionStore
  private let mistake: StoreMistake
  /// What has been read, by id and version.
  private let read = Mutex<[String: [UInt64: SessionRecord]]>([:])

  init(_ inner: any SessionStore, _ mistake: StoreMistake) { (self.inner, self.mistake) = (inner, mistake) }

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await inner.create(id, values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    let found = try await inner.load(id, unlessVersion: version)
    if case .found(let record) = found { read.withLock { $0[id, default: [:]][record.version] = record } }
    if mistake == .showsExpired, found == .missing, let last = read.withLock({ $0[id]?.max { $0.key < $1.key } }) {
      return .found(last.value)
    }
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
    } catch .tooLarge where mistake == .hidesLimits {
      return change.version + 1
    }
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    guard mistake == .keepsOldIds else { return try await inner.rotate(id, to: other) }
    guard case .found(let record) = try await inner.load(id, unlessVersion: nil) else { throw .ended }
    _ = try await inner.create(other, record.values.mapValues(\.bytes))
  }

  func end(_ id: String) async throws(SessionError) {
    try await inner.end(id)
    read.withLock { $0[id] = nil }
  }
}
