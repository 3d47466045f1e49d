import Synchronization

/// `GET /healthz`: `200` while the store can be read and written. One for the whole service, needs no environment; safe from any
/// thread.
///
/// Monitors ask often, so the store is read at most ten times a second, and written once; an answer may be that much behind.
/// Writes are those of `WriterQueue`: an answer does not wait for the disk.
final class HealthHandler: RequestHandler, Sendable {
  /// How long an answer of the store counts.
  static let period = Duration.milliseconds(100)
  /// How long it counts that the store could be written.
  static let writePeriod = Duration.seconds(1)

  private let store: SQLiteStore
  private let writers: WriterQueue
  private let errors: ErrorLog
  private let isReadable = Atomic(true)
  private let isWritable = Atomic(true)
  /// When the store is asked again. Whoever moves it on asks.
  private let nextRead = Atomic<UInt64>(0)
  /// Never, as long as a write is under way.
  private let nextWrite = Atomic<UInt64>(0)

  init(store: SQLiteStore, writers: WriterQueue, errors: ErrorLog) {
    self.store = store
    self.writers = writers
    self.errors = errors
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { try answer(at: .now) }

  /// `now` comes from the same clock in all calls.
  func answer(at now: MonotonicTime) throws(HTTPError) -> HTTPResponse {
    if Self.isDue(nextRead, now, next: now + Self.period) { isReadable.store(look(), ordering: .relaxed) }
    if Self.isDue(nextWrite, now, next: .never) { write(next: now + Self.writePeriod) }
    guard isReadable.load(ordering: .relaxed), isWritable.load(ordering: .relaxed) else {
      throw HTTPError(.serviceUnavailable, "The store cannot be used.")
    }
    return Self.healthy
  }

  private static func isDue(
    _ due: borrowing Atomic<UInt64>, _ now: MonotonicTime, next: MonotonicTime
  ) -> Bool {
    let time = due.load(ordering: .relaxed)
    return now.nanoseconds >= time
      && due.compareExchange(expected: time, desired: next.nanoseconds, ordering: .relaxed).exchanged
  }

  /// Whether the store can be read.
  private func look() -> Bool {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    return isUsable(
      Result {
        try transaction.read { connection throws(SQLiteError) in
          try ShopSchema.checkObjects(connection)
        }
      })
  }

  /// Begins to find out whether the store can be written.
  private func write(next: MonotonicTime) {
    writers.enqueue { transaction in
      try transaction.write { connection throws(SQLiteError) in
        try connection.execute("INSERT OR REPLACE INTO probe (at) VALUES (1)")
      }
    } completion: { [self] outcome in
      isWritable.store(isUsable(outcome), ordering: .relaxed)
      nextWrite.store(next.nanoseconds, ordering: .relaxed)
    }
  }

  /// A store that another process has locked for a moment can be used, and one that many write to.
  private func isUsable(_ outcome: Result<Void, any Error>) -> Bool {
    switch outcome {
    case .success: return true
    case .failure(let error as SQLiteError) where error.isBusy: return true
    case .failure(let error) where error is WriterQueue.Refused: return true
    case .failure(let error):
      errors.record(error, "look after the store")
      return false
    }
  }

  private static let healthy = HTTPResponse.json(.ok, JSONWriter.object { $0.field("status", "ok") })
}
