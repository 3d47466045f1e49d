import Glibc
import Testing

@testable import Storefront

@Suite struct SQLiteConnectionTests {
  private let database: TemporaryDatabase
  private let connection: SQLiteConnection

  init() throws {
    database = try TemporaryDatabase()
    connection = try database.connect()
    try connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")
  }

  private func notes(_ connection: SQLiteConnection) throws -> [String] {
    try connection.query("SELECT text FROM notes ORDER BY id") { $0.text(0) }
  }

  @Test func aStatementBindsAndReadsValues() throws {
    let text = "é 😀 'quoted' \u{0} behind NUL"
    try connection.execute("INSERT INTO notes VALUES (?, ?)", .integer(.max), .text(text))
    try connection.execute("INSERT INTO notes VALUES (?, ?)", 2, .null)
    try connection.execute("INSERT INTO notes VALUES (?, ?)", 3, "")
    #expect(connection.changes == 1)
    #expect(connection.lastInsertedRow == 3)
    let rows = try connection.query("SELECT id, text FROM notes ORDER BY id DESC") {
      ($0.integer(0), $0.text(1), $0.isNull(1))
    }
    #expect(rows.map(\.0) == [.max, 3, 2])
    #expect(rows.map(\.1) == [text, "", ""])
    #expect(rows.map(\.2) == [false, false, true])
  }

  @Test func parametersAreNotSQL() throws {
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "x'); DROP TABLE notes; --")
    #expect(try notes(connection) == ["x'); DROP TABLE notes; --"])
  }

  @Test func aConnectionKeepsPreparedStatements() throws {
    let first = try connection.statement("SELECT text FROM notes")
    #expect(try connection.statement("SELECT text FROM notes") === first)
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    // The bindings and rows of the first run must not show in the second.
    #expect(try notes(connection) == ["a"])
    #expect(try notes(connection) == ["a"])
  }

  @Test func anErrorNamesTheRefusedStatement() throws {
    let error = #expect(throws: SQLiteError.self) { try connection.execute("SELEKT 1") }
    #expect(error?.message.contains("syntax error") == true)
    #expect(error?.operation == "SELEKT 1")
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    let twice = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    }
    #expect(twice?.isConstraint == true)
    #expect(twice?.isBusy == false)
  }

  @Test func aFailedStatementCanRunAgain() throws {
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO notes (text) VALUES (?)", "a") }
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "b")
    #expect(try notes(connection) == ["a", "b"])
  }

  @Test func aStatementRefusesTheWrongNumberOfParameters() {
    #expect(throws: SQLiteError.self) { try connection.execute("SELECT ?") }
    #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1", 1) }
    #expect(throws: SQLiteError.self) { try connection.execute("  ") }
  }

  @Test func aConnectionRefusesToStepAStatementTwiceAtOnce() throws {
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    #expect(throws: SQLiteError.self) {
      _ = try connection.query("SELECT text FROM notes") { (row: SQLiteRow) throws(SQLiteError) in
        _ = try connection.query("SELECT text FROM notes") { $0.text(0) }
      }
    }
    #expect(try notes(connection) == ["a"])
  }

  @Test func aConnectionRefusesAFileItCannotOpen() {
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteConnection(path: "/nonexistent/x.sqlite", busyTimeout: .zero, journalMode: .wal)
    }
    #expect(error?.operation == "open /nonexistent/x.sqlite")
  }

  /// SQLite would read the path up to the NUL, and open another file.
  @Test func aPathWithANulIsRefused() throws {
    let other = "\(database.folder)/other"
    #expect(throws: SQLiteError.self) {
      try SQLiteConnection(path: other + "\0", busyTimeout: .zero, journalMode: .wal)
    }
    #expect(access(other, F_OK) != 0)
    let store = SQLiteStore()
    store.path = database.path + "\0x"
    store.isTemporary = true
    #expect(throws: SQLiteError.self) { try store.open { _ in } }
    store.close()
    #expect(access(database.path, F_OK) == 0)
  }

  @Test(arguments: ["DELETE FROM notes\0 WHERE id = 1", "SELECT 1\0", "\0SELECT 1"])
  func aStatementWithANulIsRefused(sql: String) throws {
    try connection.execute("INSERT INTO notes (text) VALUES (?)", "a")
    let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    #expect(error?.message.contains("NUL") == true)
    #expect(try notes(connection) == ["a"])
  }

  @Test(arguments: SQLiteJournalMode.allCases) func aConnectionSetsTheJournalMode(mode: SQLiteJournalMode) throws {
    let database = try TemporaryDatabase()
    let connection = try database.connect(journalMode: mode)
    #expect(try connection.query("PRAGMA journal_mode") { $0.text(0) } == [mode.rawValue])
  }

  @Test func aConnectionRefusesAJournalModeTheFileCannotHave() {
    #expect(throws: SQLiteError.self) { try SQLiteConnection(path: ":memory:", busyTimeout: .zero, journalMode: .wal) }
  }

  @Test func aConnectionIsBusyWhileAnotherConnectionWrites() throws {
    let other = try database.connect(busyTimeout: .milliseconds(1))
    try connection.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: SQLiteError.self) { try other.execute("BEGIN IMMEDIATE") }
    #expect(error?.isBusy == true)
    try connection.execute("COMMIT")
    try other.execute("BEGIN IMMEDIATE")
    try other.execute("ROLLBACK")
  }

  @Test(arguments: [
    (Duration.milliseconds(3), Int64(3)), (.microseconds(3_001), 4), (.zero, 0), (.seconds(-1), 0), (.seconds(2), 2000),
    (.seconds(Int64.max), .max),
  ])
  func theClockCountsMillisecondsUpwards(duration: Duration, expected: Int64) {
    #expect(duration.wholeMilliseconds == expected)
  }
}
