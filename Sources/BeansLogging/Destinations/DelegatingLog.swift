/// Forwards entries, flushes and the opening of files to another destination; a base class for destinations that process
/// entries first.
open class DelegatingLog<T: Log>: Log, @unchecked Sendable {  // immutable
  /// The destination that receives the entries.
  public let delegate: T

  /// Creates a destination in front of `delegate`, with the delegate's formatter and colours.
  public init(name: String, delegate: T) {
    self.delegate = delegate
    super.init(
      name: name, formatter: delegate.formatter, colorize: delegate.isColored, writer: ForwardingWriter(log: delegate))
  }

  /// Creates a destination in front of `delegate` whose writer forwards the entries.
  init(name: String, delegate: T, writer: any LogWriter) {
    self.delegate = delegate
    super.init(name: name, formatter: delegate.formatter, colorize: delegate.isColored, writer: writer)
  }
}

/// Forwards entries on the calling thread.
private struct ForwardingWriter: LogWriter {
  let log: Log

  func write(_ entry: LogEntry, as line: @autoclosure () -> String) { log.log(entry) }
  func flush() { log.flush() }
  func reopen() throws { try log.reopen() }
  var dropped: Int { log.dropped }
}
