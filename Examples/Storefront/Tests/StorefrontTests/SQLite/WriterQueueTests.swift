import Glibc
import Testing

@testable import Storefront

@Suite(.timeLimit(.minutes(20)))
struct WriterQueueTests {
  private let database: TemporaryDatabase
  private let store: SQLiteStore

  init() throws {
    database = try TemporaryDatabase()
    store = SQLiteStore()
    store.path = database.path
    try store.open { try $0.execute("CREATE TABLE notes (text TEXT)") }
  }

  /// Runs `body` with a queue, which is closed at the end.
  private func withQueue(
    patience: Duration = .seconds(60), capacity: Int = 1_000, _ body: (WriterQueue) throws -> Void
  ) throws {
    let queue = try WriterQueue(store: store, patience: patience, capacity: capacity)
    defer { queue.closeAndWait() }
    try body(queue)
  }

  /// The error that a write of a test throws.
  private struct Boom: Error {}

  /// The outcome of a write, once there is one. A task would keep a thread of the pool while it waits.
  private final class Outcome: Sendable {
    private let outcome = Guarded<Result<Void, any Error>?>(nil)
    private let isThere = Gate()

    func set(_ result: Result<Void, any Error>) {
      outcome.withLock { $0 = result }
      isThere.open()
    }

    func get() throws {
      try isThere.wait()
      try outcome.withLock { $0 }?.get()
    }
  }

  private func enqueue(
    _ queue: WriterQueue, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Void
  ) -> Outcome {
    let outcome = Outcome()
    queue.enqueue(body) { outcome.set($0) }
    return outcome
  }

  private static func insert(_ text: String, _ transaction: SQLiteTransaction) throws(SQLiteError) {
    try transaction.write { connection throws(SQLiteError) in
      try connection.execute("INSERT INTO notes VALUES (?)", .text(text))
    }
  }

  private func notes() throws -> [String] {
    try database.connect().query("SELECT text FROM notes ORDER BY rowid") { row in row.text(0) }
  }

  @Test("A write is committed when it returns") func commits() async throws {
    let queue = try WriterQueue(store: store, patience: .seconds(60))
    defer { queue.closeAndWait() }
    let value = try await queue.write { transaction in
      try Self.insert("a", transaction)
      return 7
    }
    #expect(value == 7)
    #expect(try notes() == ["a"])
    #expect(store.connections.lent == 0)
  }

  @Test("A write that throws is rolled back, and the next one is made") func rollsBack() throws {
    try withQueue { queue in
      let failed = enqueue(queue) { transaction in
        try Self.insert("a", transaction)
        throw Boom()
      }
      #expect(throws: Boom.self) { try failed.get() }
      try enqueue(queue) { try Self.insert("b", $0) }.get()
      #expect(try notes() == ["b"])
    }
  }

  @Test("Writes are made in the order of arrival; those beyond the capacity are refused") func ordersAndRefuses() throws
  {
    try withQueue(capacity: 3) { queue in
      let (hasBegun, mayGoOn) = (Gate(), Gate())
      let first = enqueue(queue) { transaction in
        hasBegun.open()
        try mayGoOn.wait()
        try Self.insert("0", transaction)
      }
      try hasBegun.wait()
      let others = (1...5).map { number in enqueue(queue) { try Self.insert("\(number)", $0) } }
      for refused in others[3...] { #expect(throws: WriterQueue.Refused.self) { try refused.get() } }
      mayGoOn.open()
      for written in [first] + others[..<3] { try written.get() }
      #expect(try notes() == ["0", "1", "2", "3"])
    }
  }

  @Test("A write waits while another process has locked the store") func waitsForALock() throws {
    try withQueue { queue in
      let other = try database.connect()
      try other.execute("BEGIN IMMEDIATE")
      let hasBegun = Gate()
      let written = enqueue(queue) { transaction in
        hasBegun.open()
        try Self.insert("a", transaction)
      }
      try hasBegun.wait()
      try other.execute("COMMIT")
      try written.get()
      #expect(try notes() == ["a"])
    }
  }

  @Test("A write fails when the store is locked for too long") func losesPatience() throws {
    try withQueue(patience: .milliseconds(20)) { queue in
      let other = try database.connect()
      try other.execute("BEGIN IMMEDIATE")
      let error = #expect(throws: SQLiteError.self) { try enqueue(queue) { try Self.insert("a", $0) }.get() }
      #expect(error?.isBusy == true)
      try other.execute("COMMIT")
      try enqueue(queue) { try Self.insert("b", $0) }.get()
      #expect(try notes() == ["b"])
    }
  }

  @Test("A queue that closes completes the write under way, and refuses all others") func closes() throws {
    let queue = try WriterQueue(store: store, patience: .seconds(60))
    let (hasBegun, mayGoOn) = (Gate(), Gate())
    let first = enqueue(queue) { transaction in
      hasBegun.open()
      try mayGoOn.wait()
      try Self.insert("a", transaction)
    }
    try hasBegun.wait()
    let second = enqueue(queue) { try Self.insert("b", $0) }
    queue.close()
    #expect(throws: WriterQueue.Refused.self) { try second.get() }
    mayGoOn.open()
    queue.closeAndWait()
    try first.get()
    #expect(try notes() == ["a"])
    #expect(throws: WriterQueue.Refused.self) { try enqueue(queue) { try Self.insert("c", $0) }.get() }
  }

  @Test("A queue that closes waits for no lock") func closesWithoutTheLock() throws {
    let queue = try WriterQueue(store: store, patience: .seconds(3_600))
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    let hasBegun = Gate()
    let locked = enqueue(queue) { transaction in
      hasBegun.open()
      try Self.insert("a", transaction)
    }
    try hasBegun.wait()
    queue.closeAndWait()
    #expect(throws: SQLiteError.self) { try locked.get() }
    try other.execute("COMMIT")
    #expect(try notes() == [])
  }

  @Test("A queue that has closed is freed") func isFreed() throws {
    weak var kept: WriterQueue?
    do {
      let queue = try WriterQueue(store: store, patience: .zero)
      kept = queue
      queue.closeAndWait()
    }
    // The thread may have it a moment longer.
    while kept != nil { sched_yield() }
  }
}
