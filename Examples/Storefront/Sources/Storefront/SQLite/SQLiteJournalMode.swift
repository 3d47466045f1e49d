/// The method by which SQLite makes a transaction atomic. Only modes that survive a crash of the process are listed.
enum SQLiteJournalMode: String, Sendable, CaseIterable {
  /// Readers and one writer do not block each other; the choice for a server.
  case wal
  case delete
  case truncate
  case persist
}
