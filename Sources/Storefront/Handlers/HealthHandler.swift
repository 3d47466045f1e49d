import Synchronization

/// `GET /healthz`: `200` while the store can be read and written. One for the whole service, needs no environment; safe from any
/// thread.
///
/// Monitors ask often, so the store is read at most ten times a second, and written once; an answer may be that much behind.
final class HealthHandler: RequestHandler, Sendable {
  /// How long an answer of the store counts.
  static let period = Duration.milliseconds(100)
  /// How long it counts that the store could be written.
  static let writePeriod = Duration.seconds(1)

  private let store: SQLiteStore
  private let errors: ErrorLog
  private let isReadable = Atomic(true)
  private let isWritable = Atomic(true)
  /// When the store is asked again. Whoever moves it on asks.
  private let nextRead = Atomic<UInt64>(0)
  private let nextWrite = Atomic<UInt64>(0)

  init(store: SQLiteStore, errors: ErrorLog) {
    self.store = store
    self.errors = errors
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { try answer(at: .now) }

  /// `now` comes from the same clock in all calls.
  func answer(at now: MonotonicTime) throws(HTTPError) -> HTTPResponse {
    if Self.isDue(nextRead, now, Self.period) { isReadable.store(ask(Self.look), ordering: .relaxed) }
    if Self.isDue(nextWrite, now, Self.writePeriod) { isWritable.store(ask(Self.write), ordering: .relaxed) }
    guard isReadable.load(ordering: .relaxed), isWritable.load(ordering: .relaxed) else {
      throw HTTPError(.serviceUnavailable, "The store cannot be used.")
    }
    return Self.healthy
  }

  private static func isDue(_ next: borrowing Atomic<UInt64>, _ now: MonotonicTime, _ period: Duration) -> Bool {
    let due = next.load(ordering: .relaxed)
    return now.nanoseconds >= due
      && next.compareExchange(expected: due, desired: (now + period).nanoseconds, ordering: .relaxed).exchanged
  }

  /// Whether `work` is done. A store that somebody has locked for a moment can be used.
  private func ask(_ work: (SQLiteTransaction) throws(SQLiteError) -> Void) -> Bool {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    do throws(SQLiteError) {
      try work(transaction)
      return true
    } catch {
      if error.isBusy { return true }
      errors.record(error, "look after the store")
      return false
    }
  }

  private static func look(_ transaction: SQLiteTransaction) throws(SQLiteError) {
    try transaction.read { connection throws(SQLiteError) in try connection.execute("SELECT id FROM products LIMIT 1") }
  }

  private static func write(_ transaction: SQLiteTransaction) throws(SQLiteError) {
    try transaction.write { connection throws(SQLiteError) in
      try connection.execute("INSERT OR REPLACE INTO probe (at) VALUES (1)")
    }
    try transaction.commit()
  }

  private static let healthy = HTTPResponse.json(.ok, JSONWriter.object { $0.field("status", "ok") })
}
