#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writes lines to standard output or standard error.
///
/// A line that cannot be written is lost; see `dropped`. The thread that logs formats and writes the line, and blocks while
/// the reader of a pipe does not read. On an event loop, put a `QueuedLog` in front.
public final class ConsoleLog: Log, @unchecked Sendable {  // immutable
  /// A standard stream of the process.
  public enum Stream: Sendable {
    /// Descriptor 1.
    case standardOutput
    /// Descriptor 2.
    case standardError
  }

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
    let writer = OutputWriter(output: output, mutex: synchronize ? Monitor(()) : nil)
    super.init(name: name, formatter: formatter, colorize: colorize, writer: writer)
  }
}

/// Writes lines to an open stream.
private struct OutputWriter: LogWriter {
  let output: Output
  /// Held while a line is written; nil where threads may write at the same time.
  let mutex: Monitor<Void>?

  func write(_ entry: LogEntry, as line: @autoclosure () -> String) {
    let line = line()
    if let mutex { mutex.withLock { _ in _ = output.write(line: line) } } else { output.write(line: line) }
  }

  var dropped: Int { output.lostLines }
}
