#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The file of a log, which other programs may move, delete or replace while it is open.
struct LogFile {
  /// The path, from the root: a later change of the working directory does not move the log.
  let path: String
  let failures: LogFailures
  private var output: Output
  private var identity: Identity?
  /// Whether the path leads to the open file, as far as known.
  private var isAttached = true

  /// A file as the system tells it from others.
  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
  }

  /// Opens a file for appending, or creates it; its folder must exist.
  init(appendingTo path: String) throws(LogError) {
    failures = LogFailures(label: path)
    output = try Output(appendingTo: path, failures)
    identity = output.status.map { Identity($0) }
    self.path = Self.absolute(path)
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }

  /// The folder of the file.
  var folder: String { Self.folder(of: path) }

  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// The status of the open file.
  var status: stat? { output.status }

  /// Opens the file again if the path no longer leads to the open one. Costs one call of `stat`.
  ///
  /// - Returns: whether another file is open now.
  mutating func follow() -> Bool {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      if Identity(status) == identity {
        isAttached = true
        return false
      }
    } else if errno != ENOENT, errno != ENOTDIR {
      // The process may not look, or no longer: the file is probably still there.
      return false
    }
    do throws(LogError) {
      try reopen()
      return true
    } catch {
      isAttached = false
      failures.note("cannot be opened again", number: error.number)
      return false
    }
  }

  /// Opens the file again, or creates it, with its folder if need be.
  ///
  /// - Throws: `LogError` when the file cannot be opened; the file that was open remains in use.
  mutating func reopen() throws(LogError) {
    let mode = (status?.st_mode ?? 0o644) & 0o777
    do throws(LogError) {
      output = try Output(appendingTo: path, mode: mode, failures)
    } catch {
      guard error.number == ENOENT, Self.createFolders(of: path) else { throw error }
      output = try Output(appendingTo: path, mode: mode, failures)
    }
    identity = output.status.map { Identity($0) }
    isAttached = true
  }

  /// Creates the folders on the way to a file. Returns false where one cannot be created.
  private static func createFolders(of path: String) -> Bool {
    let folder = folder(of: path)
    if folder == "/" || folder == "." { return true }
    if unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, createFolders(of: folder) else { return false }
    return unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST
  }

  /// Writes a line to the open file. Returns the number of bytes written.
  func write(line: String) -> Int { target.map { $0.output.write(line: line, isAttached: $0.isAttached) } ?? 0 }

  /// The open file, for one line; nil where that line is lost, because the file has been deleted and cannot be created
  /// again.
  var target: (output: Output, isAttached: Bool)? {
    if !isAttached, output.status.map({ $0.st_nlink == 0 }) ?? true {
      failures.lose()
      return nil
    }
    return (output, isAttached)
  }
}
