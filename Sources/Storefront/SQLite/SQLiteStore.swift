import Beans
import Dispatch
import Glibc

/// A database file and the connections to it, which are lent to one transaction at a time and kept for the next.
///
/// Its settings are plain properties so that a template can set some of them and a concrete declaration the rest. They are set
/// before `open()` and only read from then on: that, and the lock around the idle connections, is what makes
/// `@unchecked Sendable` sound.
final class SQLiteStore: AsyncBean, @unchecked Sendable {
  /// The file's path. Created by `open()` where it is missing; its folder must exist.
  var path = ""
  /// How long `open` waits for another connection's lock. Later no statement waits, because that would keep a loop's thread from
  /// everything else: `SQLiteError.isBusy` tells that it is worth trying again.
  var busyTimeout = Duration.seconds(5)
  var journalMode = SQLiteJournalMode.wal
  /// Whether `open` begins with a new file, which `close` removes.
  var isTemporary = false

  private struct State {
    var idle: [SQLiteConnection] = []
    var lent = 0
    var isClosed = false
    /// Nil before `open()`.
    var files: SQLiteFiles?
  }

  private let state = Guarded(State())

  init() {}

  /// Opens the shop's database on a thread that may wait: for the disk, and for another process that has locked the file.
  func postConstruct() async throws {
    try await withCheckedThrowingContinuation { (opened: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async { opened.resume(with: Result { try self.open(prepare: ShopSchema.prepare) }) }
    }
  }

  /// Opens a first connection and runs `prepare` on it: the schema, and the first rows of a new file.
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

  /// Checks that the path still names the files that were opened: whatever is written elsewhere is lost.
  ///
  /// - Throws: `SQLiteError` with `isDisplaced`.
  func requireFiles() throws(SQLiteError) {
    if let path = state.withLock({ $0.files })?.displaced { throw SQLiteError.displaced(path) }
  }

  /// A connection that nobody else has until it is given back. Opens one where none is idle, so there are never more than
  /// transactions at one time. One uncontended lock when one is idle; else as long as opening a file takes.
  func lease() throws(SQLiteError) -> SQLiteConnection {
    let (idle, isClosed) = state.withLock { state in
      if !state.isClosed { state.lent += 1 }
      return (state.isClosed ? nil : state.idle.popLast(), state.isClosed)
    }
    if isClosed { throw SQLiteError.misuse("the store is closed", operation: "lease") }
    if let idle { return idle }
    do {
      // Beside the connections that are open, one to another file would read and write something else.
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

  /// Ends the lease of a connection whose state is not known, which closes once the caller lets go of it.
  func discard(_ connection: SQLiteConnection) {
    state.withLock { state in
      state.lent -= 1
      // It may be the last one.
      state.files?.forgetLog()
    }
  }

  /// Closes the idle connections; those that are lent close when they are given back. Idempotent.
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
    // C would remove another file. No connection opens under such a path.
    if path.utf8.contains(0) { return }
    // The text lives as long as the call.
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }

  /// How many connections are lent now and how many wait, for reports and tests.
  var connections: (lent: Int, idle: Int) { state.withLock { ($0.lent, $0.idle.count) } }

  private func connect(busyTimeout: Duration) throws(SQLiteError) -> SQLiteConnection {
    try SQLiteConnection(path: path, busyTimeout: busyTimeout, journalMode: journalMode)
  }
}
