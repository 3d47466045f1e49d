#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writes entries to the system's log (`syslog(3)`), with the severity of their level.
///
/// The system adds the time, the program's name and the process; the default formatter writes `[logger] message`, or
/// `[logger] {key=value} message` with metadata. A NUL in the text, at which the system would cut the entry, is written as
/// `\0`, also by a formatter without escapes.
public final class SyslogLog: Log, @unchecked Sendable {  // immutable
  /// Creates a destination. The system does not report whether it keeps an entry.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - formatter: turns an entry into a line.
  ///   - synchronize: whether only one thread writes at a time.
  ///   - colorize: whether lines have colours, for terminals.
  ///   - facility: a `LOG_…` facility number of the system; by default, `LOG_USER`.
  public convenience init(
    name: String, formatter: LogFormatter? = nil, synchronize: Bool = true, colorize: Bool = false,
    facility: Int32? = nil
  ) {
    self.init(
      name: name, formatter: formatter, synchronize: synchronize, colorize: colorize, facility: facility,
      send: { priority, text in
        unsafe text.withCString { text in unsafe withVaList([text]) { unsafe vsyslog(priority, "%s", $0) } }
      })
  }

  init(
    name: String, formatter: LogFormatter?, synchronize: Bool, colorize: Bool, facility: Int32?,
    send: @escaping @Sendable (Int32, String) -> Void
  ) {
    let writer = SyslogWriter(
      facility: facility ?? Int32(LOG_USER), mutex: synchronize ? Monitor(()) : nil, send: send)
    super.init(name: name, formatter: formatter ?? Self.format, colorize: colorize, writer: writer)
  }

  private static let format =
    "[" + LogFormatter.logger() + "] " + LogFormatter.metadata(prefix: "{", suffix: "} ") + LogFormatter.message()
}

/// Sends entries to the system on the calling thread.
struct SyslogWriter: LogWriter {
  /// The `LOG_…` facility of the entries.
  let facility: Int32
  /// Held while an entry is sent; nil where threads may send at the same time.
  let mutex: Monitor<Void>?
  /// Sends a priority and a text to the system.
  let send: @Sendable (Int32, String) -> Void

  func write(_ entry: LogEntry, as line: @autoclosure () -> String) {
    let (priority, text) = (facility | Self.severity(of: entry.level), Self.escape(line()))
    if let mutex { mutex.withLock { _ in send(priority, text) } } else { send(priority, text) }
  }

  /// Replaces each NUL, because a C string ends at the first one.
  private static func escape(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return text.split(separator: "\0", omittingEmptySubsequences: false).joined(separator: #"\0"#)
  }

  static func severity(of level: Level) -> Int32 {
    switch level {
    case .all, .debug: Int32(LOG_DEBUG)
    case .info: Int32(LOG_INFO)
    case .warn: Int32(LOG_WARNING)
    case .error: Int32(LOG_ERR)
    case .fatal, .off: Int32(LOG_CRIT)
    }
  }
}
