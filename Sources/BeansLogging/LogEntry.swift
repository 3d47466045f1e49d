/// One message on its way to the destinations.
public struct LogEntry: Sendable {
  /// The path of the logger, as it was asked for.
  public let logger: String
  /// How much it matters.
  public let level: Level
  /// What happened.
  public let message: String
  /// What was thrown.
  public let error: (any Error)?
  /// Where it was logged from, with all callers.
  public let stackTrace: Stacktrace?
  /// The thread that logged: "main", its name, or its number.
  public let thread: String
  /// As `Module/File.swift`.
  public let file: String
  /// The function that logged.
  public let function: String
  /// From 1; 0 where it is not known.
  public let line: Int
  /// From 1; 0 where it is not known.
  public let column: Int
  /// When it was logged.
  public let timestamp: LogTimestamp

  /// Creates an entry; by default one of now and of the calling thread.
  ///
  /// - Parameters:
  ///   - logger: the path of the logger.
  ///   - level: how much it matters.
  ///   - message: what happened.
  ///   - error: what was thrown.
  ///   - stackTrace: where it was logged from, with all callers.
  ///   - thread: the thread that logged; the calling one, if not given.
  ///   - file: as `Module/File.swift`.
  ///   - function: the function that logged.
  ///   - line: from 1; 0 where it is not known.
  ///   - column: from 1; 0 where it is not known.
  ///   - timestamp: when it was logged.
  public init(
    logger: String, level: Level, message: String, error: (any Error)? = nil, stackTrace: Stacktrace? = nil,
    thread: String? = nil, file: String = "", function: String = "", line: Int = 0, column: Int = 0,
    timestamp: LogTimestamp = .now
  ) {
    self.logger = logger
    self.level = level
    self.message = message
    self.error = error
    self.stackTrace = stackTrace
    self.thread = thread ?? ThreadName.current
    self.file = file
    self.function = function
    self.line = line
    self.column = column
    self.timestamp = timestamp
  }
}
