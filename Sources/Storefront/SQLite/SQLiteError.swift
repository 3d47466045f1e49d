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

  /// A file of the database has been removed or replaced while it was open. Nothing can be written until it is back, or the
  /// service has been started anew.
  var isDisplaced: Bool { code == Self.displacedCode }
  /// `SQLITE_READONLY_DBMOVED`.
  private static let displacedCode = SQLITE_READONLY | (4 << 8)

  static func displaced(_ path: String) -> SQLiteError {
    SQLiteError(
      code: displacedCode, message: "'\(path)' has been removed or replaced while it was open", operation: "write")
  }

  /// A mistake of this program, or a file that cannot be used as asked.
  static func misuse(_ message: String, operation: String) -> SQLiteError {
    SQLiteError(code: SQLITE_MISUSE, message: message, operation: operation)
  }

  var description: String { "SQLite error \(code) (\(message)) in: \(operation)" }
}
