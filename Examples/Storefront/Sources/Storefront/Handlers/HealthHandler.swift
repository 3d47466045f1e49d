import Synchronization

/// The handler of `GET /healthz`: `200` while the store can be read and written. One instance serves all requests
/// without an environment; safe from any thread.
///
/// Monitors send many requests, so the store is read at most ten times a second, and written once; a response may be
/// that much out of date. Writes go through `WriterQueue`: a response does not wait for the disk.
final class HealthHandler: RequestHandler, Sendable {
  /// The time for which the outcome of a read is reused.
  static let period = Duration.milliseconds(100)
  /// The time for which the outcome of a write is reused.
  static let writePeriod = Duration.seconds(1)

  private let store: SQLiteStore
  private let writers: WriterQueue
  private let errors: ErrorLog
  private let isReadable = Atomic(true)
  private let isWritable = Atomic(true)
  /// The time of the next read. The thread that moves it on does the read.
  private let nextRead = Atomic<UInt64>(0)
  /// The time of the next write; `never` while a write is in flight.
  private let nextWrite = Atomic<UInt64>(0)

  init(store: SQLiteStore, writers: WriterQueue, errors: ErrorLog) {
    self.store = store
    self.writers = writers
    self.errors = errors
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { try answer(at: .now) }

  /// Returns the response, from a new check if one is due. `now` comes from the same clock in all calls.
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

  /// Starts a write that checks whether the store can be written.
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

  /// Whether an outcome means that the store works. A store that another process has locked for a moment does, and so
  /// does one with many waiting writes.
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
