/// How an entry becomes a line: parts, joined with `+` among themselves and with strings.
///
///     LogFormatter.timestamp("dd/M/yyyy, H:mm:s") + " [" + LogFormatter.logger() + "] " + LogFormatter.message()
///
/// Immutable; used by any thread.
public struct LogFormatter: Sendable {
  private let write: @Sendable (LogEntry, inout String) -> Void

  private init(writing write: @escaping @Sendable (LogEntry, inout String) -> Void) { self.write = write }

  /// A part of one's own. `format` is called for each entry, by whichever thread writes it.
  public init(format: @escaping @Sendable (LogEntry) -> String) {
    self.init(writing: { $1 += format($0) })
  }

  /// `timestamp [logger] LEVEL - message`.
  public static let standard =
    timestamp() + " [" + logger() + "] " + level() + " - " + message()

  /// The line, without its end.
  public func format(_ entry: LogEntry) -> String {
    var text = ""
    write(entry, &text)
    return text
  }

  // MARK: parts

  /// That text, whatever the entry says.
  public static func string(_ value: String) -> LogFormatter { LogFormatter(writing: { $1 += value }) }

  /// The level, in capitals.
  public static func level() -> LogFormatter { LogFormatter(writing: { $1 += $0.level.description }) }

  /// The path of the logger that was written to.
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

  /// When it was logged, in local time.
  ///
  /// - Parameter pattern: of the letters `y M d H h m s S a E Z`, repeated for width ("MMM" and "EEE" are short English
  ///   names); `'…'` quotes text, and what is no letter of these stands for itself.
  public static func timestamp(_ pattern: String = "dd/M/yyyy, H:mm:s") -> LogFormatter {
    let pattern = TimestampPattern(pattern)
    return LogFormatter(writing: { pattern.append(CivilTime($0.timestamp), to: &$1) })
  }

  /// The message; after it the error, and in lines of their own the frames of the stack trace, where there are any.
  ///
  /// A stack trace's names are looked up here, by the thread that writes.
  public static func message() -> LogFormatter {
    LogFormatter(writing: { entry, text in
      text += entry.message
      if let error = entry.error { text += (text.isEmpty ? "" : " ") + "\(error)" }
      for frame in entry.stackTrace?.frames ?? [] { text += "\n    at \(frame)" }
    })
  }

  // MARK: joining

  /// One after the other.
  public static func + (left: LogFormatter, right: LogFormatter) -> LogFormatter {
    LogFormatter(writing: { entry, text in
      left.write(entry, &text)
      right.write(entry, &text)
    })
  }

  /// With text behind it.
  public static func + (left: LogFormatter, right: String) -> LogFormatter { left + string(right) }

  /// With text before it.
  public static func + (left: String, right: LogFormatter) -> LogFormatter { string(left) + right }

  // MARK: colour

  /// `text` in the colour of a level, for a terminal (ANSI escapes).
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
