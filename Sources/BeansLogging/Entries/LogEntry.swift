/// One message for the destinations, with its origin and time.
public struct LogEntry: Sendable {
  /// The dotted path of the logger itself, or of the trace.
  public let logger: String
  /// The severity.
  public let level: Level
  /// The text.
  public let message: String
  /// The error that was thrown, if any.
  public let error: (any Error)?
  /// The stack trace of the call, with all callers.
  public let stackTrace: Stacktrace?
  /// The thread that logged: "main", its name, or its number.
  public let thread: String
  /// The file that logged, as `Module/File.swift`.
  public let file: String
  /// The function that logged.
  public let function: String
  /// From 1; 0 where it is not known.
  public let line: Int
  /// From 1; 0 where it is not known.
  public let column: Int
  /// The time of the call.
  public let timestamp: LogTimestamp
  /// The names and values that belong to the entry, such as the id of the request.
  public let metadata: LogMetadata

  /// Creates an entry, by default for the current time and the calling thread, with the metadata of its task and its
  /// environment.
  ///
  /// - Parameters:
  ///   - logger: the path of the logger.
  ///   - level: the severity.
  ///   - message: the text.
  ///   - error: the error that was thrown, if any.
  ///   - stackTrace: the stack trace of the call, with all callers.
  ///   - thread: the thread that logged; by default, the calling one.
  ///   - file: the file that logged, as `Module/File.swift`.
  ///   - function: the function that logged.
  ///   - line: the line in the file, from 1; 0 when unknown.
  ///   - column: the column in the line, from 1; 0 when unknown.
  ///   - timestamp: the time of the call.
  ///   - metadata: all metadata of the entry; by default, `LogMetadata.current`.
  public init(
    logger: String, level: Level, message: String, error: (any Error)? = nil, stackTrace: Stacktrace? = nil,
    thread: String? = nil, file: String = "", function: String = "", line: Int = 0, column: Int = 0,
    timestamp: LogTimestamp = .now, metadata: LogMetadata? = nil
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
    self.metadata = metadata ?? .current
  }
}
