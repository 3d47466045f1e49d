import Glibc

/// Appends lines to `<baseName>.log`, and starts a new file each day and whenever the file would grow too large.
///
/// The time of an entry decides its day, in local time. A finished file is kept as the copy
/// `<baseName>-yyyy-MM-dd.log`, a second one of the same day as `<baseName>-yyyy-MM-dd.1.log`, and so on. Copies older
/// than `keepDays` days are deleted; no other file is touched. Only one process may write to the file.
public final class RollingFileLog: LogManager.Log, @unchecked Sendable {  // `state` changes only under its lock
  private struct State {
    var output: Output
    /// The day of the file's entries; nil while the file is empty.
    var day: CivilDay?
    /// The size of the file, in bytes.
    var size: Int
  }

  private let files: RollingFiles
  private let keepDays: Int
  private let maxSize: Int
  private let state: Monitor<State>

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
    files = try RollingFiles(directory: directory, baseName: baseName)
    // Longer than any date here, so that the subtraction of days cannot overflow.
    self.keepDays = min(keepDays, 1 << 40)
    self.maxSize = maxSize ?? .max
    let output = try Output(appendingTo: files.current)
    state = Monitor(Self.begin(output))
    super.init(name: name, formatter: formatter, colorize: colorize)
  }

  private static func begin(_ output: Output) -> State {
    guard let status = output.status, status.st_size > 0 else { return State(output: output, day: nil, size: 0) }
    let changed = LogTimestamp(seconds: Int64(status.st_mtim.tv_sec))
    return State(output: output, day: CivilTime(changed).day, size: Int(status.st_size))
  }

  /// Starts a new file if the day or the size requires one, and writes the line on the calling thread.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    let today = CivilTime(entry.timestamp).day
    state.withLock { state in
      // An entry that a later one has overtaken at midnight belongs in the new file.
      let day = max(state.day ?? today, today)
      let isNewDay = state.day.map { $0 < day } ?? true
      let isFull = state.size > 0 && state.size > maxSize - min(line.utf8.count + 1, maxSize)
      if let full = state.day, isNewDay || isFull { roll(&state, keptAs: full) }
      if isNewDay { files.deleteCopies(before: day.number - keepDays) }
      state.day = day
      state.size += state.output.write(line: line)
    }
  }

  /// Keeps the file as a copy, and opens a new one. On failure, the file grows on until the next day, or by `maxSize`
  /// again.
  private func roll(_ state: inout State, keptAs day: CivilDay) {
    state.size = 0
    guard unsafe rename(files.current, files.copy(of: day)) == 0 else {
      return state.output.report("cannot be renamed", number: errno)
    }
    do throws(LogError) {
      state.output = try Output(appendingTo: files.current)
    } catch {
      // The old file is still open, under its new name.
      state.output.report("cannot be opened anew", number: error.number)
    }
  }
}
