import Beans
import Glibc

@testable import Storefront

/// A folder of its own for a test's database file, removed at the end.
final class TemporaryDatabase {
  let folder: String
  var path: String { "\(folder)/test.sqlite" }

  struct Failure: Error {}

  init() throws {
    var template = Array("/tmp/storefront-tests-XXXXXX".utf8CString)
    guard let made = template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap(mkdtemp) }) else {
      throw Failure()
    }
    folder = String(cString: made)
  }

  deinit {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    rmdir(folder)
  }

  func connect(busyTimeout: Duration = .seconds(5), journalMode: SQLiteJournalMode = .wal) throws -> SQLiteConnection {
    try SQLiteConnection(path: path, busyTimeout: busyTimeout, journalMode: journalMode)
  }

  /// The service's configuration with this database, read from an environment that gets the variables.
  func configuration(_ variables: [String: String], in application: Environment) throws -> Configuration {
    try Configuration.read(
      in: application,
      variables: ProcessInfoConfigurationSource(
        variables: variables.merging(["DATABASE": path]) { $1 }, ignoresEmpty: true),
      processors: 2, temporaryFolder: folder)
  }

  /// An open store with the shop's tables.
  func shop(busyTimeout: Duration = .seconds(5)) throws -> SQLiteStore {
    let store = SQLiteStore()
    store.path = path
    store.busyTimeout = busyTimeout
    try store.open(prepare: ShopSchema.prepare)
    return store
  }
}
