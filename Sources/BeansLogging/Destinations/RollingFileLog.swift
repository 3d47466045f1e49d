import Glibc

/// Appends lines to `<baseName>.log`, and begins a new file each day, and where one grows too large.
///
/// The day counts at which an entry was logged, in local time. A day's file is kept as `<baseName>-yyyy-MM-dd.log`, a
/// second one of the same day as `<baseName>-yyyy-MM-dd.1.log`, and so on. Copies older than `keepDays` days are deleted;
/// no other file is touched. Only one process may write to it.
public final class RollingFileLog: LogManager.Log, @unchecked Sendable {  // `state` is under its lock
  private struct State {
    var output: Output
    /// The day of what the file holds; nil while it is empty.
    var day: CivilDay?
    /// In bytes.
    var size: Int
  }

  private let files: RollingFiles
  private let keepDays: Int
  private let maxSize: Int
  private let state: Monitor<State>

  /// Opens the file, or makes it. What it holds from an earlier day is kept as a copy of that day when the first entry
  /// arrives.
  ///
  /// - Parameters:
  ///   - name: by which `LogManager.log(_:)` finds it.
  ///   - directory: has to exist.
  ///   - baseName: of the files, without the ending. May not end like a copy's date.
  ///   - formatter: how an entry becomes a line.
  ///   - keepDays: how many days a copy is kept; 0 keeps none of yesterday.
  ///   - maxSize: in bytes; a file that would grow beyond it is kept as a copy. A longer line has a file of its own.
  ///   - colorize: whether lines have colours, for terminals.
  /// - Throws: `LogError` where the file cannot be opened, or a parameter makes no sense.
  public init(
    name: String, directory: String, baseName: String, formatter: LogFormatter = .standard, keepDays: Int,
    maxSize: Int? = nil, colorize: Bool = false
  ) throws {
    guard keepDays >= 0 else { throw LogError("log '\(name)': copies cannot be kept for \(keepDays) days") }
    if let maxSize, maxSize <= 0 { throw LogError("log '\(name)': a file cannot have \(maxSize) bytes") }
    files = try RollingFiles(directory: directory, baseName: baseName)
    // Longer than any calendar here, so that days can be subtracted.
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

  /// Writes a line at once; before that, what the day or the size asks for.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    let today = CivilTime(entry.timestamp).day
    state.withLock { state in
      // An entry that was overtaken at midnight belongs into the new file.
      let day = max(state.day ?? today, today)
      let isNewDay = state.day.map { $0 < day } ?? true
      let isFull = state.size > 0 && state.size > maxSize - min(line.utf8.count + 1, maxSize)
      if let full = state.day, isNewDay || isFull { roll(&state, keptAs: full) }
      if isNewDay { files.deleteCopies(before: day.number - keepDays) }
      state.day = day
      state.size += state.output.write(line: line)
    }
  }

  /// Where that fails the file grows on: until the next day, or by as much again.
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
