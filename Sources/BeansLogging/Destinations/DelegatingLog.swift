/// Hands entries on to another destination; a base for those that do something on the way.
open class DelegatingLog<T: LogManager.Log>: LogManager.Log, @unchecked Sendable {  // nothing changes
  /// Who writes.
  public let delegate: T

  /// Creates one; the delegate's formatter counts.
  public init(name: String, delegate: T) {
    self.delegate = delegate
    super.init(name: name, formatter: delegate.formatter, colorize: delegate.isColored)
  }

  /// Hands the entry on.
  open override func log(_ entry: LogEntry) { delegate.log(entry) }

  /// Flushes the delegate.
  open override func flush() { delegate.flush() }

  /// The number of entries that the delegate has dropped.
  open override var dropped: Int { delegate.dropped }
}
