/// Appends lines to a file.
///
/// Each line is passed to the system at once, so no line is lost when the process ends. A file that another program has
/// moved or deleted is opened again by the next line, with its folder if need be; `reopen()` does so at once, and throws
/// `LogError` when the file cannot be opened.
///
/// A line that cannot be written (a full disk) is lost. Standard error has one line for the first of several failures in a
/// row, and one for the number of lost entries when the file can be written again; `dropped` counts them. The thread that
/// logs waits for the disk: on an event loop, put a `QueuedLog` in front.
public final class FileLog: Log, @unchecked Sendable {  // immutable
  /// Opens the file for appending, or creates it; its folder must exist. The file is closed when the destination is
  /// deallocated.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - fileName: the path; a relative one is relative to the current working directory, also after a change of that.
  ///   - formatter: turns an entry into a line.
  ///   - synchronize: whether only one thread writes at a time. Not needed behind a `QueuedLog`.
  ///   - colorize: whether lines have colours, for terminals.
  /// - Throws: `LogError` when the file cannot be opened.
  public init(
    name: String, fileName: String, formatter: LogFormatter = .standard, synchronize: Bool = true,
    colorize: Bool = false
  ) throws {
    let writer = FileWriter(try LogFile(appendingTo: fileName), synchronizes: synchronize)
    super.init(name: name, formatter: formatter, colorize: colorize, writer: writer)
  }
}

/// Appends lines to a file.
private final class FileWriter: LogWriter {
  private let file: Monitor<LogFile>
  private let synchronizes: Bool
  private let failures: LogFailures

  init(_ file: LogFile, synchronizes: Bool) {
    failures = file.failures
    self.file = Monitor(file)
    self.synchronizes = synchronizes
  }

  func write(_ entry: LogEntry, as line: @autoclosure () -> String) {
    let line = line()
    let target = file.withLock { file -> (output: Output, isAttached: Bool)? in
      _ = file.follow()
      if !synchronizes { return file.target }
      _ = file.write(line: line)
      return nil
    }
    if let target { target.output.write(line: line, isAttached: target.isAttached) }
  }

  func reopen() throws { try file.withLock { try $0.reopen() } }

  var dropped: Int { failures.lostEntries }
}
