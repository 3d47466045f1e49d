internal import CSQLite

/// What SQLite refused.
struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
  /// SQLite's extended result code.
  let code: Int32
  /// SQLite's own words, in English.
  let message: String
  /// What was being done: the SQL text, or `open <path>`.
  let operation: String

  /// The result code without its extension.
  var primaryCode: Int32 { code & 0xFF }
  /// Another connection held the lock for longer than the busy timeout: worth trying again.
  var isBusy: Bool { primaryCode == SQLITE_BUSY }
  /// A constraint of the schema was violated.
  var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

  /// A mistake of this program, or a file that cannot be used as asked.
  static func misuse(_ message: String, operation: String) -> SQLiteError {
    SQLiteError(code: SQLITE_MISUSE, message: message, operation: operation)
  }

  var description: String { "SQLite error \(code) (\(message)) in: \(operation)" }
}
