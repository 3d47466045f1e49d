/// A destination of log entries. A subclass of yours overrides `log(_:)`, and also `flush()` if it buffers entries.
///
/// Both are called from any thread, also concurrently; `log(_:)` runs on the thread that logs. Neither may throw, or
/// log to the destination itself: the initialiser of the subclass has to detect a destination that cannot work.
open class Log: @unchecked Sendable {  // immutable; a subclass protects its own state
  /// The name for `LogManager.log(_:)`.
  public let name: String
  /// The formatter that turns an entry into a line.
  let formatter: LogFormatter
  /// Whether lines are in the colour of their level (ANSI escapes).
  let isColored: Bool
  /// Writes the entries of a destination of this module; nil for a subclass that overrides `log(_:)`.
  private let writer: (any LogWriter)?

  /// The longest time that a change waits for replaced destinations to write their entries.
  static let patience = Duration.seconds(1)

  /// Creates a destination.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - formatter: turns an entry into a line.
  ///   - colorize: whether lines are in the colour of their level; for terminals.
  public init(name: String, formatter: LogFormatter = .standard, colorize: Bool = false) {
    self.name = name
    self.formatter = formatter
    self.isColored = colorize
    writer = nil
  }

  /// Creates a destination whose entries go to a writer.
  init(name: String, formatter: LogFormatter, colorize: Bool, writer: any LogWriter) {
    self.name = name
    self.formatter = formatter
    self.isColored = colorize
    self.writer = writer
  }

  /// Writes or forwards an entry. The base class does nothing.
  open func log(_ entry: LogEntry) { writer?.write(entry, as: format(entry)) }

  /// Returns when every accepted entry has been written. The base class does nothing.
  open func flush() { writer?.flush() }

  /// Opens files again, for a program that has moved them and now sends SIGHUP. The base class does nothing.
  ///
  /// - Throws: the reason why a file cannot be opened; the file that was open remains in use.
  open func reopen() throws { try writer?.reopen() }

  /// The number of entries that the destination has dropped so far; 0 in the base class.
  open var dropped: Int { writer?.dropped ?? 0 }

  /// Returns the line for an entry, without a line end; in the colour of its level, if the destination has colours.
  public final func format(_ entry: LogEntry) -> String {
    let text = formatter.format(entry)
    return isColored ? LogFormatter.colorize(text, level: entry.level) : text
  }

  /// Flushes on a thread of its own, and waits for at most `limit`, so that a blocked destination does not block the
  /// caller.
  ///
  /// - Parameter limit: the longest time to wait. A flush that takes longer continues in the background.
  /// - Returns: whether the flush has ended in time.
  @discardableResult
  public final func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { self.flush() } }

  /// Flushes a destination that another one has replaced, and waits for at most one second.
  final func flushReplaced() { flush(within: Self.patience) }
}
