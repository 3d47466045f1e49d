extension LogManager {
  /// Where entries go. A subclass overrides `log(_:)`, and `flush()` where it keeps entries back.
  ///
  /// Both are called from any thread, several at a time; `log(_:)` on the thread that logs. Neither may throw or log to
  /// itself: what cannot work has to be found out by the subclass's initialiser.
  open class Log: @unchecked Sendable {  // nothing here changes; a subclass protects what it adds
    /// By which `LogManager.log(_:)` finds it.
    public let name: String
    /// How an entry becomes a line.
    public let formatter: LogFormatter
    /// Whether lines are in the colour of their level (ANSI escapes).
    public let isColored: Bool

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - name: by which `LogManager.log(_:)` finds it.
    ///   - formatter: how an entry becomes a line.
    ///   - colorize: whether lines are in the colour of their level; for terminals.
    public init(name: String, formatter: LogFormatter = .standard, colorize: Bool = false) {
      self.name = name
      self.formatter = formatter
      self.isColored = colorize
    }

    /// Takes an entry. Does nothing here.
    open func log(_ entry: LogEntry) {}

    /// Returns when every entry that was taken has been written. Does nothing here.
    open func flush() {}

    /// Flushes on a thread of its own, and waits for it no longer than `limit`: a destination that blocks cannot hold the
    /// caller up.
    ///
    /// - Parameter limit: how long to wait. A flush that takes longer goes on by itself.
    /// - Returns: whether the flush has ended in time.
    @discardableResult
    public final func flush(within limit: Duration) -> Bool { LogThread.run(within: limit) { self.flush() } }

    /// The number of entries that the destination has dropped so far. None here.
    open var dropped: Int { 0 }

    /// The line for an entry, without its end, coloured where that was asked for.
    public final func format(_ entry: LogEntry) -> String {
      let text = formatter.format(entry)
      return isColored ? LogFormatter.colorize(text, level: entry.level) : text
    }
  }
}
