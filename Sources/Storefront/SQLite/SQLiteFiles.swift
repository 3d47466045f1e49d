import Glibc

/// The files of an open database, as they were when it was opened.
///
/// SQLite keeps its descriptors: where a file has been removed or replaced meanwhile, it goes on with one that has no name any more,
/// and its writes are lost with the process.
struct SQLiteFiles: Sendable {
  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    /// Nil where the path names no file.
    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      (device, inode) = (status.st_dev, status.st_ino)
    }
  }

  private let database: String
  private var identities: [String: Identity] = [:]

  /// Looks at the file of a database, and at its log and index where it has them.
  init(of database: String) {
    self.database = database
    for suffix in ["", "-wal", "-shm"] { identities[database + suffix] = Identity(database + suffix) }
  }

  /// Forgets the log and the index, which SQLite removes with the last connection and makes anew with the next.
  mutating func forgetLog() { identities = identities.filter { $0.key == database } }

  /// The path of a file that has been removed or replaced since. Costs a call of the system for each file.
  var displaced: String? { identities.first { Identity($0.key) != $0.value }?.key }
}
