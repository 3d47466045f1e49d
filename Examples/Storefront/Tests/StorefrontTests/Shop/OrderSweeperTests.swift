import Testing

@testable import Storefront

/// The removal of old orders.
@Suite struct OrderSweeperTests {
  private let database: TemporaryDatabase
  private let store: SQLiteStore

  init() throws {
    database = try TemporaryDatabase()
    store = try database.shop()
  }

  private func place(_ count: Int, at times: (Int) -> Int64) throws {
    let connection = try database.connect()
    try connection.execute("BEGIN")
    for number in 0..<count {
      try connection.execute(
        "INSERT INTO orders (id, visitor, placed_at, total_cents) VALUES (?, ?, ?, ?)",
        .text("order \(number)"), .text("visitor"), .integer(times(number)), .integer(100))
      try connection.execute(
        "INSERT INTO order_lines (order_id, product_id, quantity, price_cents) VALUES (?, 1, 1, 100)",
        .text("order \(number)"))
    }
    try connection.execute("COMMIT")
  }

  private func count(_ table: String) throws -> Int64 {
    try database.connect().query("SELECT count(*) FROM \(table)") { $0.integer(0) }.first ?? -1
  }

  @Test func theSweeperRemovesTheOldestOrdersInBatches() async throws {
    try place(OrderSweeper.batch + 20) { Int64($0) }
    let queue = try WriterQueue(store: store, patience: .seconds(60))
    defer {
      queue.closeAndWait()
      store.close()
    }
    let sweeper = OrderSweeper(queue: queue, kept: .seconds(86_400))
    let limit = Int64(OrderSweeper.batch + 10)
    #expect(try await sweeper.sweep(placedBefore: limit) == OrderSweeper.batch)
    #expect(try await sweeper.sweep(placedBefore: limit) == 10)
    #expect(try await sweeper.sweep(placedBefore: limit) == 0)
    #expect(try count("orders") == 10)
    #expect(try count("order_lines") == 10)
  }

  @Test func theSweeperRunsUntilItIsCancelled() async throws {
    try place(3) { Int64($0) }
    let queue = try WriterQueue(store: store, patience: .seconds(60))
    let sweeper = OrderSweeper(queue: queue, kept: .seconds(86_400))
    let run = Task { try await sweeper.run() }
    while try count("orders") > 0 { await Task.yield() }
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    queue.closeAndWait()
    store.close()
  }
  /// Another process may hold the database until the shop ends. That is no failure of the shop.
  @Test func aForeignLockLeavesTheSweepToTheNextOne() async throws {
    try place(3) { Int64($0) }
    let queue = try WriterQueue(store: store, patience: .milliseconds(10))
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    let sweeper = OrderSweeper(queue: queue, kept: .seconds(86_400))
    let run = Task { try await sweeper.run() }
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    try other.execute("COMMIT")
    queue.closeAndWait()
    store.close()
    #expect(try count("orders") == 3)
  }
}
