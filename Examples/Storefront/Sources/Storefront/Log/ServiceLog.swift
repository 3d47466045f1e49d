import BeansLogging
import Glibc

/// The standard streams of the process, each behind a queue with a thread of its own. Neither a loop nor the end of the
/// process waits for a reader that has stopped reading.
///
/// The service logs to standard error, its own lines without time and level; the lines of a request end with its id. It
/// announces its start and its end on standard output.
enum ServiceLog {
  private static let name = "Storefront"

  /// The service's own logger, of the installed manager.
  static let logger = LogManager.getLogger(forName: name)

  /// The logger of responses, which writes entries after `writeResponses()`.
  static let access = LogManager.getLogger(forName: "\(name).Access")

  /// The logger of the hourly report on sales.
  static let sales = LogManager.getLogger(forName: "\(name).Sales")

  /// Turns the lines of responses on.
  static func writeResponses() { LogManager.getSingleton().registerLogger(access.path, level: .info) }

  private static let output = queue(to: .standardOutput, name: "standard output", formatter: .message())
  private static let errors = queue(
    to: .standardError, name: "standard error",
    formatter: LogFormatter { ($0.logger == name ? own : .standard).format($0) }.unescaped())

  /// The format of the service's own lines. It escapes values, as the standard format does.
  private static let own = LogFormatter.message() + LogFormatter.metadata(prefix: " {", suffix: "}")

  private static func queue(
    to stream: ConsoleLog.Stream, name: String, formatter: LogFormatter
  ) -> QueuedLog<ConsoleLog> {
    QueuedLog(
      name: name, delegate: ConsoleLog(name: name, formatter: formatter, synchronize: false, output: stream))
  }

  /// Installs these streams as the log of the process, which is flushed when the process exits.
  ///
  /// - Throws: `LogError` if the system refuses a thread.
  static func install() throws {
    LogManager().registerLogger("", level: .warn, logs: [errors]).registerLog(output)
      .registerLogger(sales.path, level: .info)
    try output.start()
    try errors.start()
  }

  /// Writes to standard output.
  static func announce(_ text: String) { write(text, .info, to: output) }

  /// Writes the reason for the end of the process to standard error, even without a thread for the queue.
  static func fail(_ text: String) {
    write(text, .fatal, to: errors)
    errors.flush(within: .seconds(1))
  }

  /// Writes each line as an entry of its own, because a line break within an entry is escaped.
  private static func write(_ text: String, _ level: Level, to log: QueuedLog<ConsoleLog>) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      log.log(LogEntry(logger: name, level: level, message: String(line)))
    }
  }

  /// The number of lines that were dropped because the reader was too slow.
  static var dropped: Int { LogManager.getSingleton().dropped }
}
