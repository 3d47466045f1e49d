import Glibc
import Testing

@testable import Storefront

@Suite struct SQLiteTransactionTests {
  private let database: TemporaryDatabase
  private let store = SQLiteStore()

  init() throws {
    database = try TemporaryDatabase()
    store.path = database.path
    store.busyTimeout = .milliseconds(1)
    try store.open { try $0.execute("CREATE TABLE notes (text TEXT)") }
  }

  private func insert(_ text: String, in transaction: SQLiteTransaction) throws {
    try transaction.write { connection throws(SQLiteError) in
      try connection.execute("INSERT INTO notes VALUES (?)", .text(text))
    }
  }

  private func notes(in transaction: SQLiteTransaction) throws -> [String] {
    try transaction.read { connection throws(SQLiteError) in
      try connection.query("SELECT text FROM notes") { $0.text(0) }
    }
  }

  private func keptNotes() throws -> [String] {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    return try notes(in: transaction)
  }

  @Test func aTransactionKeepsCommittedChanges() throws {
    let transaction = SQLiteTransaction(store: store)
    try insert("a", in: transaction)
    #expect(try notes(in: transaction) == ["a"])
    #expect(try keptNotes() == [])
    try transaction.commit()
    #expect(try keptNotes() == ["a"])
    try transaction.finish()
    #expect(try keptNotes() == ["a"])
  }

  @Test func aTransactionDropsUncommittedChanges() throws {
    let transaction = SQLiteTransaction(store: store)
    try insert("a", in: transaction)
    try transaction.commit()
    try insert("b", in: transaction)
    try transaction.finish()
    #expect(try keptNotes() == ["a"])
  }

  @Test func aDroppedTransactionIsRolledBack() throws {
    do { try insert("a", in: SQLiteTransaction(store: store)) }
    #expect(try keptNotes() == [])
    #expect(store.connections.lent == 0)
  }

  @Test func aTransactionTakesAConnectionOnItsFirstUse() throws {
    let transaction = SQLiteTransaction(store: store)
    #expect(store.connections.lent == 0)
    _ = try notes(in: transaction)
    #expect(store.connections.lent == 1)
    try transaction.finish()
    #expect(store.connections == (0, 1))
  }

  @Test func aTransactionIsRefusedAfterItsEnd() throws {
    let transaction = SQLiteTransaction(store: store)
    try transaction.finish()
    try transaction.finish()
    #expect(throws: SQLiteError.self) { try notes(in: transaction) }
    #expect(throws: SQLiteError.self) { try insert("a", in: transaction) }
    try transaction.commit()
    #expect(store.connections.lent == 0)
  }

  @Test func oneWritesWhileOthersRead() throws {
    let writer = SQLiteTransaction(store: store)
    let second = SQLiteTransaction(store: store)
    try insert("a", in: writer)
    #expect(try notes(in: second) == [])
    let error = #expect(throws: SQLiteError.self) { try insert("b", in: second) }
    #expect(error?.isBusy == true)
    try writer.commit()
    try insert("b", in: second)
    try second.commit()
    try writer.finish()
    try second.finish()
    #expect(try keptNotes() == ["a", "b"])
    #expect(store.connections == (0, 2))
  }

  @Test func aFailedStatementDoesNotEndTheTransaction() throws {
    let transaction = SQLiteTransaction(store: store)
    try insert("a", in: transaction)
    #expect(throws: SQLiteError.self) {
      try transaction.write { connection throws(SQLiteError) in try connection.execute("INSERT INTO none VALUES (1)") }
    }
    try transaction.commit()
    try transaction.finish()
    #expect(try keptNotes() == ["a"])
  }
}

@Suite struct SQLiteStoreTests {
  @Test func thePoolLendsEachConnectionToOneUserAtATime() throws {
    let database = try TemporaryDatabase()
    let store = try database.shop()
    let first = try store.lease()
    let second = try store.lease()
    #expect(first !== second)
    store.giveBack(first)
    #expect(try store.lease() === first)
    #expect(store.connections == (2, 0))
    store.discard(second)
    #expect(store.connections == (1, 0))
  }

  @Test func thePoolLendsNoConnectionOnceClosed() throws {
    let database = try TemporaryDatabase()
    let store = try database.shop()
    let lent = try store.lease()
    store.close()
    store.close()
    #expect(throws: SQLiteError.self) { try store.lease() }
    store.giveBack(lent)
    #expect(store.connections == (0, 0))
  }

  @Test func aFailedLeaseIsNotCounted() throws {
    let store = SQLiteStore()
    store.path = "/nonexistent/x.sqlite"
    #expect(throws: SQLiteError.self) { try store.lease() }
    #expect(throws: (any Error).self) { try store.open { _ in } }
    #expect(store.connections == (0, 0))
  }

  /// Many threads, few connections, and every increment counts.
  @Test(.timeLimit(.minutes(20))) func manyThreadsWriteInTurn() async throws {
    let database = try TemporaryDatabase()
    let store = try database.shop()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var written = 0
          while written < 50 {
            let transaction = SQLiteTransaction(store: store)
            do throws(SQLiteError) {
              try transaction.write { connection throws(SQLiteError) in
                try connection.execute("UPDATE products SET price_cents = price_cents + 1 WHERE id = 1")
              }
              try transaction.commit()
              written += 1
            } catch {
              // A locked file is an error at once here, without a wait for the other writer.
              #expect(error.isBusy, "\(error)")
              sched_yield()
            }
            #expect(throws: Never.self) { try transaction.finish() }
          }
        }
      }
    }
    let price = try #require(try Catalogue(store: store)[1]).price.cents
    #expect(price == 1490 + 200)
    #expect(store.connections.lent == 0)
    #expect(store.connections.idle <= 5)
  }
}
