import Glibc

/// Writes lines to the standard output, or to standard error.
///
/// Writes on the thread that logs, which waits while the reader of a pipe does not read. On an event loop, use it behind a
/// `QueuedLog`.
public final class ConsoleLog: LogManager.Log, @unchecked Sendable {  // nothing changes
  /// Which of the process's streams.
  public enum Stream: Sendable {
    /// Descriptor 1.
    case standardOutput
    /// Descriptor 2.
    case standardError
  }

  private let output: Output
  private let mutex: Monitor<Void>?

  /// Creates a console.
  ///
  /// - Parameters:
  ///   - name: by which `LogManager.log(_:)` finds it.
  ///   - formatter: how an entry becomes a line.
  ///   - synchronize: whether only one thread writes at a time. Not needed behind a `QueuedLog`.
  ///   - colorize: whether lines have colours, for terminals.
  ///   - output: which stream.
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

  /// Writes a line at once.
  public override func log(_ entry: LogEntry) {
    let line = format(entry)
    if let mutex { mutex.withLock { _ in _ = output.write(line: line) } } else { output.write(line: line) }
  }
}
