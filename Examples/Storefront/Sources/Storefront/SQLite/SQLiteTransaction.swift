/// A unit of work on a store. Only `commit()` makes its changes permanent.
///
/// Leases a connection at its first use and gives it back in `finish()`. Used by one thread at a time, like every bean
/// of a request; not `Sendable`.
final class SQLiteTransaction {
  private enum State {
    case unused
    /// The state after reads only, each in its own implicit transaction.
    case reading(SQLiteConnection)
    case writing(SQLiteConnection)
    case finished
  }

  private let store: SQLiteStore
  private var state = State.unused

  init(store: SQLiteStore) { self.store = store }

  // A transaction without a call of `finish` must not keep its connection and its locks.
  deinit { try? finish() }

  /// Runs `body` on the connection. Reads include the changes of this transaction.
  func read<R>(_ body: (SQLiteConnection) throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    switch state {
    case .unused:
      let connection = try store.lease()
      state = .reading(connection)
      return try body(connection)
    case .reading(let connection), .writing(let connection):
      return try body(connection)
    case .finished:
      throw SQLiteError.misuse("the transaction is finished", operation: "read")
    }
  }

  /// Runs `body` inside the transaction, which begins with the first call: `BEGIN IMMEDIATE`, so that a conflict with
  /// another writer, of this process or another, shows at the beginning and not half-way through.
  ///
  /// - Throws: the error of `body`; `SQLiteError` with `isBusy`, without a wait, while another transaction writes;
  ///   `SQLiteError` with `isDisplaced` if the files of the store have been removed or replaced.
  func write<R>(_ body: (SQLiteConnection) throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    let connection = try read { $0 }
    if case .reading = state {
      try store.requireFiles()
      try connection.execute("BEGIN IMMEDIATE")
      state = .writing(connection)
    }
    return try body(connection)
  }

  /// Commits the changes. A later `write` begins a new transaction. Does nothing if there are no changes. After a
  /// failure (busy, disk full) the transaction is still open: commit again, or finish.
  func commit() throws(SQLiteError) {
    guard case .writing(let connection) = state else { return }
    try store.requireFiles()
    try connection.execute("COMMIT")
    state = .reading(connection)
  }

  /// Rolls back uncommitted changes and gives the connection back. Idempotent.
  func finish() throws(SQLiteError) {
    let ended = state
    state = .finished
    switch ended {
    case .unused, .finished:
      return
    case .reading(let connection):
      store.giveBack(connection)
    case .writing(let connection):
      // Some errors (disk full, out of memory) have rolled back already.
      defer { connection.isAutocommit ? store.giveBack(connection) : store.discard(connection) }
      if !connection.isAutocommit { try connection.execute("ROLLBACK") }
    }
  }
}
