#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Appends lines to `<baseName>.log`, and starts a new file each day and whenever the file would grow too large.
///
/// The time of an entry decides its day, in local time. A finished file is kept as the copy
/// `<baseName>-yyyy-MM-dd.log`, a second one of the same day as `<baseName>-yyyy-MM-dd.1.log`, and so on. Copies older
/// than `keepDays` days are deleted; no other file is touched. Only one process may write to the file.
///
/// An entry that is more than a day older than the file shows that the clock has been set back: it starts a new file. A
/// clock that is set forward deletes no copy of the days before. A file that another program has moved or deleted is
/// opened again, and lost entries are reported, as by `FileLog`.
public final class RollingFileLog: Log, @unchecked Sendable {  // immutable
  /// Opens the file, or creates it. Content of an earlier day becomes a copy of that day when the first entry arrives.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - directory: the folder of the files, which must exist.
  ///   - baseName: the name of the files, without the ending. May not end like the date of a copy.
  ///   - formatter: turns an entry into a line.
  ///   - keepDays: the number of days that a copy is kept; 0 keeps none of yesterday.
  ///   - maxSize: the size limit in bytes; a file that would grow beyond it becomes a copy. A longer line gets a file
  ///     of its own.
  ///   - colorize: whether lines have colours, for terminals.
  /// - Throws: `LogError` when the file cannot be opened, or a parameter is invalid.
  public init(
    name: String, directory: String, baseName: String, formatter: LogFormatter = .standard, keepDays: Int,
    maxSize: Int? = nil, colorize: Bool = false
  ) throws {
    guard keepDays >= 0 else { throw LogError("log '\(name)': copies cannot be kept for \(keepDays) days") }
    if let maxSize, maxSize <= 0 { throw LogError("log '\(name)': a file cannot have \(maxSize) bytes") }
    let files = try RollingFiles(directory: directory, baseName: baseName)
    let writer = try RollingFileWriter(files, keepDays: keepDays, maxSize: maxSize ?? .max)
    super.init(name: name, formatter: formatter, colorize: colorize, writer: writer)
  }
}

/// Appends lines to the current file, and finishes it.
private final class RollingFileWriter: LogWriter {
  private struct State {
    var file: LogFile
    /// The day of the file's entries; nil while the file is empty.
    var day: CivilDay?
    /// The size of the file, in bytes.
    var size = 0

    init(_ file: LogFile) {
      self.file = file
      begin()
    }

    /// Reads the day and the size of the file that has been opened.
    mutating func begin() {
      (day, size) = (nil, 0)
      guard let status = file.status, status.st_size > 0 else { return }
      day = CivilTime(LogTimestamp(seconds: status.lastChange)).day
      size = Int(status.st_size)
    }
  }

  private let files: RollingFiles
  private let keepDays: Int
  private let maxSize: Int
  private let state: Monitor<State>
  private let failures: LogFailures

  init(_ files: RollingFiles, keepDays: Int, maxSize: Int) throws(LogError) {
    let file = try LogFile(appendingTo: files.current)
    var files = files
    files.directory = file.folder
    self.files = files
    // Longer than any date here, so that the subtraction of days cannot overflow.
    self.keepDays = min(keepDays, 1 << 40)
    self.maxSize = maxSize
    failures = file.failures
    state = Monitor(State(file))
  }

  /// Starts a new file if the day, the clock or the size requires one, and writes the line on the calling thread.
  func write(_ entry: LogEntry, as line: @autoclosure () -> String) {
    let line = line()
    let today = CivilTime(entry.timestamp).day
    state.withLock { state in
      if state.file.follow() { state.begin() }
      // An entry that a later one has overtaken at midnight belongs in the new file.
      let isSetBack = state.day.map { today.number < $0.number - 1 } ?? false
      let day = isSetBack ? today : max(state.day ?? today, today)
      let isNewDay = isSetBack || state.day.map { $0 < day } ?? true
      let isFull = state.size > 0 && state.size > maxSize - min(line.utf8.count + 1, maxSize)
      // The day after the finished one: a clock that is set forward by years would delete all copies.
      let next = state.day.map { min($0.number + 1, day.number) } ?? day.number
      if let full = state.day, isNewDay || isFull { roll(&state, keptAs: full) }
      if isNewDay { files.deleteCopies(before: next - keepDays) }
      state.day = day
      state.size += state.file.write(line: line)
    }
  }

  /// Keeps the file as a copy, and opens a new one. On failure, the file grows on until the next day, or by `maxSize`
  /// again.
  private func roll(_ state: inout State, keptAs day: CivilDay) {
    state.size = 0
    guard unsafe rename(files.current, files.copy(of: day)) == 0 else {
      return failures.note("cannot be renamed", number: errno)
    }
    // On failure, the old file is still open, under its new name; the next line tries again.
    _ = state.file.follow()
  }

  func reopen() throws {
    try state.withLock { state in
      try state.file.reopen()
      state.begin()
    }
  }

  var dropped: Int { failures.lostEntries }
}

extension stat {
  /// The seconds of the last change of the content, since 1970.
  fileprivate var lastChange: Int64 {
    #if canImport(Darwin)
      Int64(st_mtimespec.tv_sec)
    #else
      Int64(st_mtim.tv_sec)
    #endif
  }
}
