internal import CSQLite

/// A prepared statement. Belongs to its connection and, like it, is used by one thread at a time.
@safe final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer

  /// Takes ownership of `handle`.
  init(_ handle: OpaquePointer, connection: OpaquePointer) {
    unsafe self.handle = unsafe handle
    unsafe self.connection = unsafe connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Binds the parameters, steps through all rows and resets the statement, even if `row` throws.
  func run(
    _ parameters: [SQLiteValue], row: (SQLiteRow) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    guard unsafe parameters.count == Int(sqlite3_bind_parameter_count(handle)) else {
      let needed = unsafe sqlite3_bind_parameter_count(handle)
      throw SQLiteError.misuse("\(needed) parameters needed, \(parameters.count) given", operation: sql)
    }
    guard unsafe sqlite3_stmt_busy(handle) == 0 else {
      throw SQLiteError.misuse("the statement is being stepped through", operation: sql)
    }
    defer {
      // A read lock lasts until here. The result repeats the step's error, which has been thrown already.
      unsafe sqlite3_reset(handle)
      unsafe sqlite3_clear_bindings(handle)
    }
    for (index, parameter) in parameters.enumerated() {
      try check(bind(parameter, Int32(index + 1)))
    }
    while true {
      switch unsafe sqlite3_step(handle) {
      case SQLITE_ROW: try unsafe row(SQLiteRow(handle))
      case SQLITE_DONE: return
      case let code: throw unsafe SQLiteError(handle: connection, code: code, operation: sql)
      }
    }
  }

  private func bind(_ value: SQLiteValue, _ index: Int32) -> Int32 {
    switch value {
    case .integer(let integer):
      return unsafe sqlite3_bind_int64(handle, index, integer)
    case .null:
      return unsafe sqlite3_bind_null(handle, index)
    case .text(var text):
      // SQLITE_TRANSIENT, which C spells as a cast that Swift does not import: SQLite copies the text.
      let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      return text.withUTF8 {
        unsafe sqlite3_bind_text64(handle, index, $0.baseAddress, UInt64($0.count), copy, UInt8(SQLITE_UTF8))
      }
    }
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw unsafe SQLiteError(handle: connection, code: code, operation: sql) }
  }

  private var sql: String { unsafe sqlite3_sql(handle).map { unsafe String(cString: $0) } ?? "" }
}

/// The current row of a statement. Valid only inside the closure that receives it. Columns are numbered from 0.
@safe struct SQLiteRow {
  private let handle: OpaquePointer

  fileprivate init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

  /// Returns the integer of a column; 0 if the column is NULL or no number.
  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  /// Returns the text of a column; empty if the column is NULL, see `isNull`.
  func text(_ column: Int32) -> String {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }
}
