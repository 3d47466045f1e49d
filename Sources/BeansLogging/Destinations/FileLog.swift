/// Appends lines to a file.
///
/// Each line is handed to the system at once, so nothing is lost when the process ends. A line that cannot be written (a
/// full disk) is lost; the first one is reported on standard error. The thread that logs waits for the disk: on an event loop,
/// use it behind a `QueuedLog`.
public final class FileLog: LogManager.Log, @unchecked Sendable {  // nothing changes
  private let output: Output
  private let mutex: Monitor<Void>?

  /// Opens the file for appending, or makes it; its folder has to exist. Closed when nobody writes to it any more.
  ///
  /// - Parameters:
  ///   - name: by which `LogManager.log(_:)` finds it.
  ///   - fileName: the path.
  ///   - formatter: how an entry becomes a line.
  ///   - synchronize: whether only one thread writes at a time. Not needed behind a `QueuedLog`.
  ///   - colorize: whether lines have colours, for terminals.
  /// - Throws: `LogError` where the file cannot be opened.
  public init(
    name: String, fileName: String, formatter: LogFormatter = .standard, synchronize: Bool = true,
    colorize: Bool = false
  ) throws {
    output = try Output(appendingTo: fileName)
    mutex = synchronize ? Monitor(()) : nil
    super.init(name: name, formatter: formatter, colorize: colorize)
  }

  /// Writes a line at once.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    if let mutex { mutex.withLock { _ in _ = output.write(line: line) } } else { output.write(line: line) }
  }
}
