import Beans
import Dispatch
import Glibc

/// A database file and the connections to it. A connection is leased to one transaction at a time and reused for the
/// next.
///
/// Its settings are plain properties so that a template can set some of them and a concrete declaration the rest. They
/// are set before `open()` and only read after it. That, and the lock around the idle connections, makes `@unchecked
/// Sendable` sound.
final class SQLiteStore: AsyncBean, @unchecked Sendable {
  /// The path of the file. `open()` creates a missing file; its folder must exist.
  var path = ""
  /// The time for which `open` waits for another connection's lock. Later no statement waits, because a wait would
  /// block a loop's thread: after an error with `SQLiteError.isBusy`, another attempt may succeed.
  var busyTimeout = Duration.seconds(5)
  var journalMode = SQLiteJournalMode.wal
  /// Whether `open` starts with a new file, which `close` removes.
  var isTemporary = false

  private struct State {
    var idle: [SQLiteConnection] = []
    var lent = 0
    var isClosed = false
    /// The files of the database; nil before `open()`.
    var files: SQLiteFiles?
  }

  private let state = Guarded(State())

  init() {}

  /// Opens the shop's database on a thread that may wait: for the disk, and for another process that has locked the
  /// file.
  func postConstruct() async throws {
    try await withCheckedThrowingContinuation { (opened: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async { opened.resume(with: Result { try self.open(prepare: ShopSchema.prepare) }) }
    }
  }

  /// Opens a first connection and runs `prepare` on it, for the schema and the first rows of a new file.
  func open(prepare: (SQLiteConnection) throws -> Void) throws {
    if isTemporary { removeFile() }
    let connection = try connect(busyTimeout: busyTimeout)
    try prepare(connection)
    connection.setBusyTimeout(.zero)
    let files = SQLiteFiles(of: path)
    state.withLock { state in
      state.idle.append(connection)
      state.files = files
    }
  }

  /// Checks that the path still names the files that were opened: a write to other files is lost.
  ///
  /// - Throws: `SQLiteError` with `isDisplaced`.
  func requireFiles() throws(SQLiteError) {
    if let path = state.withLock({ $0.files })?.displaced { throw SQLiteError.displaced(path) }
  }

  /// Returns a connection that the caller alone uses until it is given back. Opens one if none is idle, so there are
  /// never more connections than transactions at one time. Takes one uncontended lock if a connection is idle;
  /// otherwise as long as opening a file.
  func lease() throws(SQLiteError) -> SQLiteConnection {
    let (idle, isClosed) = state.withLock { state in
      if !state.isClosed { state.lent += 1 }
      return (state.isClosed ? nil : state.idle.popLast(), state.isClosed)
    }
    if isClosed { throw SQLiteError.misuse("the store is closed", operation: "lease") }
    if let idle { return idle }
    do {
      // A connection to another file would read and write other data than the open connections.
      try requireFiles()
      return try connect(busyTimeout: .zero)
    } catch {
      state.withLock { $0.lent -= 1 }
      throw error
    }
  }

  /// Ends a lease. The connection must not be inside a transaction, and the caller must not use it again.
  func giveBack(_ connection: SQLiteConnection) {
    state.withLock { state in
      state.lent -= 1
      if !state.isClosed { state.idle.append(connection) }
    }
  }

  /// Ends the lease of a connection in an unknown state, which closes when the caller drops its reference.
  func discard(_ connection: SQLiteConnection) {
    state.withLock { state in
      state.lent -= 1
      // The connection may be the last one.
      state.files?.forgetLog()
    }
  }

  /// Closes the idle connections; leased ones close when they are given back. Idempotent.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    // Closed here, outside the lock: the last connection to a WAL file writes the log back.
    withExtendedLifetime(consume idle) {}
    if isTemporary { removeFile() }
  }

  private func removeFile() {
    // C would read the path up to the NUL and remove another file. No connection opens under such a path.
    if path.utf8.contains(0) { return }
    // The text is valid for the length of the call.
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }

  /// The number of leased connections and of idle ones, for reports and tests.
  var connections: (lent: Int, idle: Int) { state.withLock { ($0.lent, $0.idle.count) } }

  private func connect(busyTimeout: Duration) throws(SQLiteError) -> SQLiteConnection {
    try SQLiteConnection(path: path, busyTimeout: busyTimeout, journalMode: journalMode)
  }
}
