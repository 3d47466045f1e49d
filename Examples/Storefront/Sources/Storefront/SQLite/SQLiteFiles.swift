import Glibc

/// The files of an open database, as they were when it was opened.
///
/// SQLite keeps its descriptors. If a file is removed or replaced meanwhile, SQLite continues with one that has no name
/// any more, and its writes are lost with the process.
struct SQLiteFiles: Sendable {
  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    /// Returns nil if the path names no file.
    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      (device, inode) = (status.st_dev, status.st_ino)
    }
  }

  private let database: String
  private var identities: [String: Identity] = [:]

  /// Records the identity of a database's file, and of its log and index if they exist.
  init(of database: String) {
    self.database = database
    for suffix in ["", "-wal", "-shm"] { identities[database + suffix] = Identity(database + suffix) }
  }

  /// Drops the identities of the log and the index, which SQLite removes with the last connection and creates with the
  /// next.
  mutating func forgetLog() { identities = identities.filter { $0.key == database } }

  /// The path of a file that has been removed or replaced since. Costs a system call for each file.
  var displaced: String? { identities.first { Identity($0.key) != $0.value }?.key }
}
