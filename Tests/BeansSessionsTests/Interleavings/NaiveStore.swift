@_spi(BeansPackage) import BeansErrors
import BeansSessions

/// Mistakes that stores of sessions make.
enum StoreMistake: CaseIterable, Sendable {
  /// A save of a session that is gone creates it.
  case revives
  /// A load of an unknown id creates a session of that id.
  case adopts
  /// A save writes all values, as they were read.
  case writesWholeSessions
  /// A save leaves out the values that others have changed since the session was read.
  case keepsWhatOthersWrote
  /// A value that is to be removed stays.
  case keepsRemovedValues
  /// A new id is one more.
  case keepsOldIds
  /// A rotation of a session that is gone creates one.
  case rotatesWhatIsGone
  /// A new session takes the place of one that has the id.
  case overwrites
  /// A save overwrites a conflicting change without an error.
  case ignoresConflicts
  /// A save returns the next version, without regard to the writes of others.
  case answersTheNextVersion
  /// A load returns all values, at any version of the caller.
  case sendsAlways
  /// An expired session is found all the same.
  case showsExpired
  /// A look at a session is no use of it.
  case touchesNever
  /// Each look at a session puts the expiry off.
  case touchesAlways
  /// A save that makes a session too large is dropped without an error.
  case hidesLimits

  /// The promises that the mistake breaks.
  var broken: [Promise] {
    switch self {
    case .revives: [.endedStaysEnded, .expiredStaysExpired]
    case .adopts: [.strangersAreUnknown]
    case .writesWholeSessions: [.differentValuesSurvive]
    case .keepsWhatOthersWrote: [.lastWriterWins]
    case .keepsRemovedValues: [.valuesCanBeRemoved]
    case .keepsOldIds: [.rotationIsOneStep]
    case .rotatesWhatIsGone: [.rotationNeedsASession]
    case .overwrites: [.idsAreTakenOnce]
    case .ignoresConflicts: [.conflictIsTold]
    case .answersTheNextVersion: [.othersAreTold]
    case .sendsAlways: [.knownVersionsAreNotSent]
    case .showsExpired: [.expiredIsNotShown]
    case .touchesNever: [.useKeepsAlive]
    case .touchesAlways: [.touchesAreRare]
    case .hidesLimits: [.sizeIsLimited]
    }
  }

  /// True if clients of a `Sessions` can lose a change, or find a session that is not theirs, by this mistake in
  /// the interleavings. There a manager takes no id twice and removes no value, and sessions are small.
  var concernsClients: Bool {
    switch self {
    case .keepsRemovedValues, .overwrites, .sendsAlways, .touchesNever, .touchesAlways, .hidesLimits: false
    default: true
    }
  }

  /// The limits of the store below, which alone make some of the mistakes.
  var limits: SessionLimits {
    var limits = wideLimits
    if self == .touchesNever { limits.touchInterval = limits.idleLimit * 100 }
    if self == .touchesAlways { limits.touchInterval = .zero }
    return limits
  }
}

/// A store that does one thing wrong.
final class NaiveStore: SessionStore {
  private let inner: any SessionStore
  private let mistake: StoreMistake
  /// The records that have been read, by id and version.
  private let read = Locked<[String: [UInt64: SessionRecord]]>([:])

  init(_ inner: any SessionStore, _ mistake: StoreMistake) { (self.inner, self.mistake) = (inner, mistake) }

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    if mistake == .overwrites { try await inner.end(id) }
    return try await inner.create(id, values)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    var found = try await inner.load(id, unlessVersion: mistake == .sendsAlways ? nil : version)
    if case .found(let record) = found { read.withLock { $0[id, default: [:]][record.version] = record } }
    guard found == .missing else { return found }
    if mistake == .adopts {
      _ = try await inner.create(id, [:])
      found = try await inner.load(id, unlessVersion: version)
    }
    if mistake == .showsExpired, let last = read.withLock({ $0[id]?.max { $0.key < $1.key } }) {
      return .found(last.value)
    }
    return found
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    var change = change
    switch mistake {
    case .ignoresConflicts: change.expected = [:]
    case .keepsRemovedValues: change.values = change.values.filter { $0.value != nil }
    case .writesWholeSessions:
      guard let record = read.withLock({ $0[id]?[change.version] }) else { break }
      change.values.merge(record.values.mapValues(\.bytes)) { changed, _ in changed }
    case .keepsWhatOthersWrote:
      guard case .found(let record) = try await inner.load(id, unlessVersion: nil) else { break }
      let read = change.version
      change.values = change.values.filter { name, _ in record.values[name]?.version ?? 0 <= read }
    default: break
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
    if mistake == .keepsOldIds {
      guard case .found(let record) = try await inner.load(id, unlessVersion: nil) else { throw .ended }
      _ = try await inner.create(other, record.values.mapValues(\.bytes))
      return
    }
    do throws(SessionError) {
      try await inner.rotate(id, to: other)
    } catch .ended where mistake == .rotatesWhatIsGone {
      _ = try await inner.create(other, [:])
    }
  }

  func end(_ id: String) async throws(SessionError) {
    try await inner.end(id)
    read.withLock { $0[id] = nil }
  }
}
