import Beans
import Glibc

/// Removes the orders that the shop does not keep any longer, a few at a time, so that no other write waits for long.
final class OrderSweeper: RunnableBean {
  /// The number of orders that one transaction removes at most.
  static let batch = 500
  private static let pause = Duration.seconds(3600)

  private let queue: WriterQueue
  private let kept: Duration

  /// - Parameters:
  ///   - queue: receives the writes.
  ///   - kept: the age from which orders are removed.
  init(queue: WriterQueue, kept: Duration) { (self.queue, self.kept) = (queue, kept) }

  /// Sweeps at once, and then every hour, until the shop ends.
  func run() async throws {
    while true {
      do {
        while try await sweep(placedBefore: Int64(time(nil)) - kept.components.seconds) == Self.batch {}
      } catch is WriterQueue.Refused {
        // Too many writes wait, or the shop ends: the next sweep removes the rest.
      } catch let error as SQLiteError where error.isBusy {
        // Another process holds the database: the next sweep removes the rest.
      }
      try await Task.sleep(for: Self.pause)
    }
  }

  /// Removes the oldest orders.
  ///
  /// - Parameter limit: the time of the first order to keep, in seconds since 1970.
  /// - Returns: the number of removed orders, at most `batch`.
  func sweep(placedBefore limit: Int64) async throws -> Int {
    try await queue.write { transaction in
      try transaction.write { connection throws(SQLiteError) in
        // In the order of their numbers, which grow with time, so that no index is needed.
        let old = "SELECT sequence, id FROM orders ORDER BY sequence LIMIT \(Self.batch)"
        let aged = "FROM (\(old)) AS oldest JOIN orders USING (sequence) WHERE orders.placed_at < ?"
        try connection.execute(
          "DELETE FROM order_lines WHERE order_id IN (SELECT orders.id \(aged))", .integer(limit))
        try connection.execute(
          "DELETE FROM orders WHERE sequence IN (SELECT orders.sequence \(aged))", .integer(limit))
        return connection.changes
      }
    }
  }
}
