internal import CSQLite

/// An error of SQLite, or of its use.
struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The extended result code of SQLite.
  let code: Int32
  /// The message of SQLite, in English.
  let message: String
  /// The operation that failed: the SQL text, or `open <path>`.
  let operation: String

  /// The result code without its extension.
  var primaryCode: Int32 { code & 0xFF }
  /// Whether another connection held the lock for longer than the busy timeout: another attempt may succeed.
  var isBusy: Bool { primaryCode == SQLITE_BUSY }
  /// Whether a constraint of the schema was violated.
  var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

  /// Whether a file of the database has been removed or replaced while it was open. No write can succeed until the file
  /// is back, or the service has been restarted.
  var isDisplaced: Bool { code == Self.displacedCode }
  /// The code `SQLITE_READONLY_DBMOVED`.
  private static let displacedCode = SQLITE_READONLY | (4 << 8)

  static func displaced(_ path: String) -> SQLiteError {
    SQLiteError(
      code: displacedCode, message: "'\(path)' has been removed or replaced while it was open", operation: "write")
  }

  /// Returns the error for a mistake of this program, or for a file that cannot be used as requested.
  static func misuse(_ message: String, operation: String) -> SQLiteError {
    SQLiteError(code: SQLITE_MISUSE, message: message, operation: operation)
  }

  var description: String { "SQLite error \(code) (\(message)) in: \(operation)" }
}
