/// Turns an entry into a line: parts, joined with `+` to each other and to strings.
///
///     LogFormatter.timestamp("dd/M/yyyy, H:mm:s") + " [" + LogFormatter.logger() + "] " + LogFormatter.message()
///
/// A formatter is immutable, and may be used from any thread.
public struct LogFormatter: Sendable {
  private let write: @Sendable (LogEntry, inout String) -> Void

  private init(writing write: @escaping @Sendable (LogEntry, inout String) -> Void) { self.write = write }

  /// Creates a custom part. `format` is called for each entry, on the thread that writes the entry.
  public init(format: @escaping @Sendable (LogEntry) -> String) {
    self.init(writing: { $1 += format($0) })
  }

  /// The default format, `timestamp [logger] LEVEL - message`.
  public static let standard =
    timestamp() + " [" + logger() + "] " + level() + " - " + message()

  /// Returns the line, without a line end.
  public func format(_ entry: LogEntry) -> String {
    var text = ""
    write(entry, &text)
    return text
  }

  // MARK: parts

  /// A fixed text.
  public static func string(_ value: String) -> LogFormatter { LogFormatter(writing: { $1 += value }) }

  /// The level, in capitals.
  public static func level() -> LogFormatter { LogFormatter(writing: { $1 += $0.level.description }) }

  /// The path of the logger.
  public static func logger() -> LogFormatter { LogFormatter(writing: { $1 += $0.logger }) }

  /// The thread that logged: "main", its name, or its number.
  public static func thread() -> LogFormatter { LogFormatter(writing: { $1 += $0.thread }) }

  /// The file that logged, as `Module/File.swift`.
  public static func file() -> LogFormatter { LogFormatter(writing: { $1 += $0.file }) }

  /// The function that logged.
  public static func function() -> LogFormatter { LogFormatter(writing: { $1 += $0.function }) }

  /// The line in the file, from 1.
  public static func line() -> LogFormatter { LogFormatter(writing: { $1 += String($0.line) }) }

  /// The column in the line, from 1.
  public static func column() -> LogFormatter { LogFormatter(writing: { $1 += String($0.column) }) }

  /// The time of the entry, in local time.
  ///
  /// - Parameter pattern: a date pattern of the letters `y M d H h m s S a E Z`, repeated for width ("MMM" and "EEE"
  ///   are short English names). `'…'` quotes text; any other character is copied.
  public static func timestamp(_ pattern: String = "dd/M/yyyy, H:mm:s") -> LogFormatter {
    let pattern = TimestampPattern(pattern)
    return LogFormatter(writing: { pattern.append(CivilTime($0.timestamp), to: &$1) })
  }

  /// The message, then the error, if any, then the frames of the stack trace, if any, each on a line of its own.
  ///
  /// The thread that writes looks up the names in the stack trace.
  public static func message() -> LogFormatter {
    LogFormatter(writing: { entry, text in
      text += entry.message
      if let error = entry.error { text += (text.isEmpty ? "" : " ") + "\(error)" }
      for frame in entry.stackTrace?.frames ?? [] { text += "\n    at \(frame)" }
    })
  }

  // MARK: joining

  /// Joins two parts.
  public static func + (left: LogFormatter, right: LogFormatter) -> LogFormatter {
    LogFormatter(writing: { entry, text in
      left.write(entry, &text)
      right.write(entry, &text)
    })
  }

  /// Appends a fixed text.
  public static func + (left: LogFormatter, right: String) -> LogFormatter { left + string(right) }

  /// Prepends a fixed text.
  public static func + (left: String, right: LogFormatter) -> LogFormatter { string(left) + right }

  // MARK: colour

  /// Returns `text` in the colour of a level, for a terminal (ANSI escapes).
  public static func colorize(_ text: String, level: Level) -> String {
    let colour =
      switch level {
      case .all: 90  // grey
      case .debug: 36  // cyan
      case .info: 32  // green
      case .warn: 33  // yellow
      case .error: 31  // red
      case .fatal, .off: 35  // magenta
      }
    return "\u{1B}[\(colour)m\(text)\u{1B}[0m"
  }
}
