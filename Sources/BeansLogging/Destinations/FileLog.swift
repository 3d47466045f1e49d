/// Appends lines to a file.
///
/// Each line is passed to the system at once, so no line is lost when the process ends. A line that cannot be written
/// (a full disk) is lost; the first of several failures in a row is reported on standard error. The thread that logs
/// waits for the disk: on an event loop, put a `QueuedLog` in front.
public final class FileLog: LogManager.Log, @unchecked Sendable {  // immutable
  private let output: Output
  private let mutex: Monitor<Void>?

  /// Opens the file for appending, or creates it; its folder must exist. The file is closed when the destination is
  /// deallocated.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - fileName: the path.
  ///   - formatter: turns an entry into a line.
  ///   - synchronize: whether only one thread writes at a time. Not needed behind a `QueuedLog`.
  ///   - colorize: whether lines have colours, for terminals.
  /// - Throws: `LogError` when the file cannot be opened.
  public init(
    name: String, fileName: String, formatter: LogFormatter = .standard, synchronize: Bool = true,
    colorize: Bool = false
  ) throws {
    output = try Output(appendingTo: fileName)
    mutex = synchronize ? Monitor(()) : nil
    super.init(name: name, formatter: formatter, colorize: colorize)
  }

  /// Formats the entry and writes the line on the calling thread.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    if let mutex { mutex.withLock { _ in _ = output.write(line: line) } } else { output.write(line: line) }
  }
}
