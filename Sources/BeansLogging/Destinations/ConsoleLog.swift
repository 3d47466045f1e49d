#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writes lines to standard output or standard error.
///
/// A line that cannot be written is lost; see `dropped`. The thread that logs writes the line, and blocks while the reader of a pipe does not read. On an event loop, put a
/// `QueuedLog` in front.
public final class ConsoleLog: LogManager.Log, @unchecked Sendable {  // immutable
  /// A standard stream of the process.
  public enum Stream: Sendable {
    /// Descriptor 1.
    case standardOutput
    /// Descriptor 2.
    case standardError
  }

  private let output: Output
  private let mutex: Monitor<Void>?

  /// Creates a destination for a standard stream.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - formatter: turns an entry into a line.
  ///   - synchronize: whether only one thread writes at a time. Not needed behind a `QueuedLog`.
  ///   - colorize: whether lines have colours, for terminals.
  ///   - output: the stream.
  public convenience init(
    name: String, formatter: LogFormatter = .standard, synchronize: Bool = true, colorize: Bool = false,
    output: Stream = .standardOutput
  ) {
    let output =
      switch output {
      case .standardOutput: Output(standard: STDOUT_FILENO, label: "on standard output")
      case .standardError: Output(standard: STDERR_FILENO, label: "on standard error")
      }
    self.init(name: name, formatter: formatter, synchronize: synchronize, colorize: colorize, to: output)
  }

  init(name: String, formatter: LogFormatter, synchronize: Bool, colorize: Bool, to output: Output) {
    self.output = output
    mutex = synchronize ? Monitor(()) : nil
    super.init(name: name, formatter: formatter, colorize: colorize)
  }

  /// Formats the entry and writes the line on the calling thread.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    if let mutex { mutex.withLock { _ in _ = output.write(line: line) } } else { output.write(line: line) }
  }

  /// The number of entries that could not be written.
  public override var dropped: Int { output.lostLines }
}
