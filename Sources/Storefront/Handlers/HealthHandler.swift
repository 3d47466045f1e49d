import Synchronization

/// `GET /healthz`: `200` while the store answers. One for the whole service, needs no environment; safe from any thread.
///
/// Monitors ask often, so the store is asked at most ten times a second; an answer may be that much behind.
final class HealthHandler: RequestHandler, Sendable {
  /// How long an answer of the store counts.
  static let period = Duration.milliseconds(100)

  private let store: SQLiteStore
  private let storeAnswers = Atomic(true)
  /// When the store is asked again. Whoever moves it on asks.
  private let nextLook = Atomic<UInt64>(0)

  init(store: SQLiteStore) { self.store = store }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse { try answer(at: .now) }

  /// `now` comes from the same clock in all calls.
  func answer(at now: MonotonicTime) throws(HTTPError) -> HTTPResponse {
    let due = nextLook.load(ordering: .relaxed)
    if now.nanoseconds >= due,
      nextLook.compareExchange(
        expected: due, desired: (now + Self.period).nanoseconds, ordering: .relaxed
      ).exchanged
    {
      storeAnswers.store(askStore(), ordering: .relaxed)
    }
    guard storeAnswers.load(ordering: .relaxed) else {
      throw HTTPError(.serviceUnavailable, "The store does not answer.")
    }
    return Self.healthy
  }

  private func askStore() -> Bool {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    do {
      try transaction.read { connection throws(SQLiteError) in try connection.execute("SELECT 1") }
      return true
    } catch {
      return false
    }
  }

  private static let healthy = HTTPResponse.json(.ok, JSONWriter.object { $0.field("status", "ok") })
}
