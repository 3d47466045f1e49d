internal import CSQLite

/// A connection to a database file, with a cache of prepared statements.
///
/// Used by one thread at a time: SQLite is opened without its own mutexes, and the cache has none. The lease of a
/// connection (`SQLiteStore.lease`) protects it: from the lease to its end one transaction alone uses the connection,
/// and the store's lock orders the leases. The lease also makes `@unchecked Sendable` sound.
///
/// Every call may block: on the disk, and on another connection's lock for up to the busy timeout.
@safe final class SQLiteConnection: @unchecked Sendable {
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]

  /// Opens the file, and creates it if it is missing. `busyTimeout` is the time for which a statement waits for another
  /// connection's lock; it is rounded up to milliseconds.
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
    // SQLite falls back to read-only access if it may not write, without an error before the first change.
    guard unsafe sqlite3_db_readonly(opened, "main") == 0 else {
      throw SQLiteError(code: SQLITE_READONLY, message: "the file is read-only", operation: "open \(path)")
    }
    unsafe sqlite3_extended_result_codes(opened, 1)
    setBusyTimeout(busyTimeout)
    try execute("PRAGMA foreign_keys = ON")
    let mode = try query("PRAGMA journal_mode = \(journalMode.rawValue)") { (row: SQLiteRow) in row.text(0) }
    // SQLite keeps the old mode, without an error, if the file system does not support the new one.
    guard mode == [journalMode.rawValue] else {
      throw SQLiteError.misuse("the file does not take journal mode \(journalMode.rawValue)", operation: "open \(path)")
    }
    // With WAL, `NORMAL` loses at most the last transactions in a power cut, never consistency; the other modes need
    // `FULL`.
    try execute("PRAGMA synchronous = \(journalMode == .wal ? "NORMAL" : "FULL")")
    // Checkpoints wait for the disk: `WriterQueue` runs them on its thread.
    try execute("PRAGMA wal_autocheckpoint = 0")
  }

  deinit {
    statements = [:]
    // `_v2` delays the close while a statement is still referenced.
    unsafe sqlite3_close_v2(handle)
  }

  /// Sets the time for which a statement waits for another connection's lock; rounded up to milliseconds.
  func setBusyTimeout(_ timeout: Duration) {
    unsafe sqlite3_busy_timeout(handle, Int32(clamping: timeout.wholeMilliseconds))
  }

  /// Returns the prepared statement for `sql`, which is compiled at its first use. `sql` must be one statement and a
  /// text of this program, not of a client: the cache never evicts it.
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

  /// Runs a statement and maps each of its rows to a value.
  func query<R>(
    _ sql: String, _ parameters: SQLiteValue..., row: (SQLiteRow) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> [R] {
    var results: [R] = []
    try statement(sql).run(parameters) { (current: SQLiteRow) throws(SQLiteError) in
      results.append(try row(current))
    }
    return results
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed.
  var changes: Int { unsafe Int(sqlite3_changes64(handle)) }
  /// The row id of the last INSERT.
  var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }
  /// Whether no explicit transaction is open: false between BEGIN and COMMIT or ROLLBACK.
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
  /// The duration in milliseconds, rounded up, so that a wait is never shorter than requested; 0 for a negative one,
  /// `Int64.max` for one that is too large.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, overflow2) = product.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    return overflow || overflow2 ? .max : sum
  }
}
