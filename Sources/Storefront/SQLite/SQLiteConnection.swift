internal import CSQLite

/// One connection to a database file, with a cache of prepared statements.
///
/// Used by one thread at a time: SQLite is opened without its own mutexes, and the cache has none. What protects a
/// connection is its lease (`SQLiteStore.lease`): between taking and giving it back, one transaction alone has it, and the
/// store's lock orders one lease after the other. That is also what makes `@unchecked Sendable` sound.
///
/// Every call may block: on the disk, and on another connection's lock for up to the busy timeout.
@safe final class SQLiteConnection: @unchecked Sendable {
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]

  /// Opens the file, creating it where it is missing. `busyTimeout` is how long a statement waits for another connection's
  /// lock; it is rounded up to milliseconds.
  init(path: String, busyTimeout: Duration, journalMode: SQLiteJournalMode) throws(SQLiteError) {
    if path.utf8.contains(0) {
      throw SQLiteError.misuse("the path contains a NUL", operation: "open \(path.debugDescription)")
    }
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened = unsafe opened else {
      throw SQLiteError(code: code, message: "out of memory", operation: "open \(path)")
    }
    guard code == SQLITE_OK else {
      let error = unsafe SQLiteError(handle: opened, code: code, operation: "open \(path)")
      unsafe sqlite3_close_v2(opened)
      throw error
    }
    unsafe handle = unsafe opened
    // SQLite falls back to reading only where it may not write, without an error before the first change.
    guard unsafe sqlite3_db_readonly(opened, "main") == 0 else {
      throw SQLiteError(code: SQLITE_READONLY, message: "the file is read-only", operation: "open \(path)")
    }
    unsafe sqlite3_extended_result_codes(opened, 1)
    setBusyTimeout(busyTimeout)
    try execute("PRAGMA foreign_keys = ON")
    let mode = try query("PRAGMA journal_mode = \(journalMode.rawValue)") { (row: SQLiteRow) in row.text(0) }
    // SQLite keeps the old mode, without an error, where the file system cannot do the new one.
    guard mode == [journalMode.rawValue] else {
      throw SQLiteError.misuse("the file does not take journal mode \(journalMode.rawValue)", operation: "open \(path)")
    }
    // With WAL this loses at most the last transactions in a power cut, never consistency; with the others, be safe.
    try execute("PRAGMA synchronous = \(journalMode == .wal ? "NORMAL" : "FULL")")
    // Checkpoints wait for the disk: `WriterQueue` makes them, on its thread.
    try execute("PRAGMA wal_autocheckpoint = 0")
  }

  deinit {
    statements = [:]
    // `_v2` waits for a statement that somebody still holds.
    unsafe sqlite3_close_v2(handle)
  }

  /// Sets how long a statement waits for another connection's lock; rounded up to milliseconds.
  func setBusyTimeout(_ timeout: Duration) {
    unsafe sqlite3_busy_timeout(handle, Int32(clamping: timeout.wholeMilliseconds))
  }

  /// The prepared statement for `sql`, compiled at its first use. `sql` must be one statement and come from this program,
  /// not from a client: the cache keeps it for good.
  func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let cached = statements[sql] { return cached }
    if sql.utf8.contains(0) {
      throw SQLiteError.misuse("the statement contains a NUL", operation: sql.debugDescription)
    }
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK else { throw unsafe SQLiteError(handle: handle, code: code, operation: sql) }
    guard let prepared = unsafe prepared else { throw SQLiteError.misuse("not a statement", operation: sql) }
    let statement = unsafe SQLiteStatement(prepared, connection: handle)
    statements[sql] = statement
    return statement
  }

  /// Runs a statement to its end and drops its rows, if any.
  func execute(_ sql: String, _ parameters: SQLiteValue...) throws(SQLiteError) {
    try statement(sql).run(parameters) { (_: SQLiteRow) throws(SQLiteError) in }
  }

  /// Runs a statement and makes one value of each of its rows.
  func query<R>(
    _ sql: String, _ parameters: SQLiteValue..., row: (SQLiteRow) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> [R] {
    var results: [R] = []
    try statement(sql).run(parameters) { (current: SQLiteRow) throws(SQLiteError) in
      results.append(try row(current))
    }
    return results
  }

  /// How many rows the last INSERT, UPDATE or DELETE changed.
  var changes: Int { unsafe Int(sqlite3_changes64(handle)) }
  /// The row id of the last INSERT.
  var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }
  /// False between BEGIN and COMMIT or ROLLBACK.
  var isAutocommit: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }
}

extension SQLiteError {
  init(handle: OpaquePointer?, code: Int32, operation: String) {
    let extended = unsafe sqlite3_extended_errcode(handle)
    unsafe self.init(
      code: extended & 0xFF == code & 0xFF ? extended : code, message: String(cString: sqlite3_errmsg(handle)),
      operation: operation)
  }
}

extension Duration {
  /// Rounded up, so that a wait is never shorter than asked for; 0 where negative, `Int64.max` where too large.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, overflow2) = product.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    return overflow || overflow2 ? .max : sum
  }
}
