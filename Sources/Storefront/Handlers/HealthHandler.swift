/// `GET /healthz`: `200` while the store answers.
final class HealthHandler: RequestHandler {
  private let transaction: SQLiteTransaction

  init(transaction: SQLiteTransaction) { self.transaction = transaction }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    do {
      try transaction.read { connection throws(SQLiteError) in try connection.execute("SELECT 1") }
    } catch {
      throw HTTPError(.serviceUnavailable, "The store does not answer.")
    }
    return .json(.ok, JSONWriter.object { $0.field("status", "ok") })
  }
}
