/// Forwards entries to another destination; a base class for destinations that process entries first.
open class DelegatingLog<T: LogManager.Log>: LogManager.Log, @unchecked Sendable {  // immutable
  /// The destination that receives the entries.
  public let delegate: T

  /// Creates a destination in front of `delegate`, with the delegate's formatter and colours.
  public init(name: String, delegate: T) {
    self.delegate = delegate
    super.init(name: name, formatter: delegate.formatter, colorize: delegate.isColored)
  }

  /// Forwards the entry to the delegate.
  open override func log(_ entry: LogEntry) { delegate.log(entry) }

  /// Flushes the delegate.
  open override func flush() { delegate.flush() }

  /// Opens the files of the delegate again.
  ///
  /// - Throws: as the delegate.
  open override func reopen() throws { try delegate.reopen() }

  /// The number of entries that the delegate has dropped.
  open override var dropped: Int { delegate.dropped }
}
