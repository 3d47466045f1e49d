/// Turns an entry into a line: parts, joined with `+` to each other and to strings.
///
///     LogFormatter.timestamp("dd/M/yyyy, H:mm:s") + " [" + LogFormatter.logger() + "] " + LogFormatter.message()
///
/// Values of the entry are escaped: control characters and line breaks become `\n`, `\0`, `\u{1B}` and the like, so that
/// a value that a client has sent cannot forge a line. Fixed texts are written as they are, and so are the line ends
/// between the frames of a stack trace. `unescaped()` turns the escapes off.
///
/// A formatter is immutable, and may be used from any thread.
public struct LogFormatter: Sendable {
  /// A line while the parts of a formatter write it.
  struct Line {
    var text = ""
    /// Whether values are escaped.
    var escapes = true

    /// Appends a value of the entry.
    mutating func append(value: String) {
      if escapes { EscapedText.append(value, to: &text) } else { text += value }
    }
  }

  private let write: @Sendable (LogEntry, inout Line) -> Void

  init(writing write: @escaping @Sendable (LogEntry, inout Line) -> Void) { self.write = write }

  /// Creates a custom part. `format` is called for each entry, on the thread that writes the entry. Its result is escaped
  /// like a value of the entry; `unescaped()` writes it as it is.
  public init(format: @escaping @Sendable (LogEntry) -> String) {
    self.init(writing: { $1.append(value: format($0)) })
  }

  /// The default format, `timestamp [logger] LEVEL - message`; with the metadata of the entry, if any,
  /// `timestamp [logger] LEVEL {key=value} - message`.
  public static let standard =
    time(TimestampPattern(iso8601)) + " [" + logger() + "] " + level() + metadata(prefix: " {", suffix: "}")
    + " - " + message()

  /// Returns the line, without a line end.
  public func format(_ entry: LogEntry) -> String {
    var line = Line()
    write(entry, &line)
    return line.text
  }

  /// Returns a formatter that writes the values of the entry as they are. Use it only where no client decides on a value,
  /// or where the reader of the lines does not depend on line ends.
  public func unescaped() -> LogFormatter {
    LogFormatter(writing: { entry, line in
      let escapes = line.escapes
      line.escapes = false
      write(entry, &line)
      line.escapes = escapes
    })
  }

  // MARK: parts

  /// A fixed text, which is not escaped.
  package static func string(_ value: String) -> LogFormatter { LogFormatter(writing: { $1.text += value }) }

  /// The level, in capitals.
  public static func level() -> LogFormatter { LogFormatter(writing: { $1.text += $0.level.description }) }

  /// The path of the logger.
  public static func logger() -> LogFormatter { LogFormatter(writing: { $1.append(value: $0.logger) }) }

  /// The thread that logged: "main", its name, or its number.
  public static func thread() -> LogFormatter { LogFormatter(writing: { $1.append(value: $0.thread) }) }

  /// The file that logged, as `Module/File.swift`.
  public static func file() -> LogFormatter { LogFormatter(writing: { $1.append(value: $0.file) }) }

  /// The function that logged.
  public static func function() -> LogFormatter { LogFormatter(writing: { $1.append(value: $0.function) }) }

  /// The line in the file, from 1.
  public static func line() -> LogFormatter { LogFormatter(writing: { $1.text += String($0.line) }) }

  /// The column in the line, from 1.
  public static func column() -> LogFormatter { LogFormatter(writing: { $1.text += String($0.column) }) }

  /// The pattern of ISO 8601 with milliseconds and the offset of the time zone, `2026-11-25T13:14:00.123+01:00`: the
  /// default of `timestamp(_:)`. In UTC the offset is `Z`. Lines of one offset sort by time.
  @usableFromInline static let iso8601 = "yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ"

  /// The time of the entry, in local time.
  static func time(_ pattern: TimestampPattern) -> LogFormatter {
    LogFormatter(writing: { pattern.append(CivilTime($0.timestamp), to: &$1.text) })
  }

  /// The message, then the error, if any, then the frames of the stack trace, if any, each on a line of its own.
  ///
  /// The thread that writes looks up the names in the stack trace.
  public static func message() -> LogFormatter {
    LogFormatter(writing: { entry, line in
      line.append(value: entry.message)
      if let error = entry.error {
        if !line.text.isEmpty { line.text += " " }
        line.append(value: "\(error)")
      }
      for frame in entry.stackTrace?.frames ?? [] {
        line.text += "\n    at "
        line.append(value: frame)
      }
    })
  }

  // MARK: joining

  /// Joins two parts.
  public static func + (left: LogFormatter, right: LogFormatter) -> LogFormatter {
    LogFormatter(writing: { entry, line in
      left.write(entry, &line)
      right.write(entry, &line)
    })
  }

  /// Appends a fixed text.
  public static func + (left: LogFormatter, right: String) -> LogFormatter { left + string(right) }

  /// Prepends a fixed text.
  public static func + (left: String, right: LogFormatter) -> LogFormatter { string(left) + right }

  // MARK: colour

  /// Returns `text` in the colour of a level, for a terminal (ANSI escapes).
  package static func colorize(_ text: String, level: Level) -> String {
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
