public import Synchronization

/// Writes messages under one path, to the destinations that `LogManager` has for it.
///
/// A message below the logger's level costs one relaxed load: the message is not built, nothing is locked or allocated.
/// Later changes in the manager also apply to existing loggers. A logger may be used from any thread.
public final class Logger: Sendable {
  /// The level and the destinations of a logger.
  struct Route {
    let level: Level
    let logs: [Log]
  }

  /// The dotted path of the logger itself, from the general to the specific.
  public let path: String

  /// The severity of the lowest level that is written.
  @usableFromInline let threshold = Atomic<Int>(Level.off.severity)
  private let logs = Monitor<[Log]>([])

  init(path: String) { self.path = path }

  /// The lowest level that is written. Costs one relaxed load.
  public var level: Level { Level.allCases[threshold.load(ordering: .relaxed)] }

  /// Whether messages of that level are written. Costs one relaxed load.
  @inlinable @inline(__always)
  public func isEnabled(_ level: Level) -> Bool {
    level.severity >= threshold.load(ordering: .relaxed) && level != .off
  }

  // MARK: messages

  /// Logs a detail for developers.
  ///
  /// - Parameters:
  ///   - message: the text; evaluated only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func debug(
    _ message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .debug, message: message(), metadata: metadata(), file: file, function: function, line: line, column: column)
  }

  /// Logs an event of normal operation, for operators.
  ///
  /// - Parameters:
  ///   - message: the text; evaluated only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func info(
    _ message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .info, message: message(), metadata: metadata(), file: file, function: function, line: line, column: column)
  }

  /// Logs a problem after which the program continues.
  ///
  /// - Parameters:
  ///   - message: the text; evaluated only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func warn(
    _ message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .warn, message: message(), metadata: metadata(), file: file, function: function, line: line, column: column)
  }

  /// Logs a failure, without a stack trace.
  ///
  /// - Parameters:
  ///   - message: the text; evaluated only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func error(
    _ message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .error, message: message(), metadata: metadata(), file: file, function: function, line: line, column: column)
  }

  /// Logs a failure after which the program cannot continue, without a stack trace. Does not end the program.
  ///
  /// - Parameters:
  ///   - message: the text; evaluated only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func fatal(
    _ message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .fatal, message: message(), metadata: metadata(), file: file, function: function, line: line, column: column)
  }

  /// Logs a failure: the message, the error and the stack trace, which is captured only when it is written.
  ///
  /// - Parameters:
  ///   - error: the error that was thrown, if any.
  ///   - stackTrace: the stack trace of the call; evaluated at most once, and only when the entry is written.
  ///   - message: the text; evaluated at most once, and only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func error(
    _ error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = Stacktrace.current(),
    message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .error, error: error, stackTrace: stackTrace(), message: message(), metadata: metadata(), file: file,
      function: function, line: line, column: column)
  }

  /// Logs a failure after which the program cannot continue: the message, the error and the stack trace. Does not end
  /// the program.
  ///
  /// - Parameters:
  ///   - error: the error that was thrown, if any.
  ///   - stackTrace: the stack trace of the call; evaluated at most once, and only when the entry is written.
  ///   - message: the text; evaluated at most once, and only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func fatal(
    _ error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = Stacktrace.current(),
    message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    log(
      .fatal, error: error, stackTrace: stackTrace(), message: message(), metadata: metadata(), file: file,
      function: function, line: line, column: column)
  }

  /// Logs a message of any level, if you like with an error and a stack trace.
  ///
  /// - Parameters:
  ///   - level: the severity.
  ///   - error: the error that was thrown, if any.
  ///   - stackTrace: the stack trace of the call; evaluated at most once, and only when the entry is written.
  ///   - message: the text; evaluated at most once, and only when it is written.
  ///   - metadata: names and values of this entry, besides those of the task and the environment; evaluated only when
  ///     the entry is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  @inlinable
  public func log(
    _ level: Level, error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = nil,
    message: @autoclosure () -> String, metadata: @autoclosure () -> LogMetadata = [:],
    file: String = #fileID, function: String = #function, line: Int = #line, column: Int = #column
  ) {
    guard isEnabled(level) else { return }
    write(
      level, message(), error: error, stackTrace: stackTrace(), metadata: metadata(), file: file, function: function,
      line: line, column: column)
  }

  /// Passes an entry to each destination, on the calling thread. Not inlined, so that callers stay small.
  @usableFromInline @inline(never)
  func write(
    _ level: Level, _ message: String, error: (any Error)?, stackTrace: Stacktrace?, metadata: LogMetadata,
    file: String, function: String, line: Int, column: Int
  ) {
    let entry = LogEntry(
      logger: path, level: level, message: message, error: error, stackTrace: stackTrace, file: file,
      function: function, line: line, column: column, metadata: LogMetadata.current.merging(metadata))
    // Called outside the lock: a destination may be slow.
    for log in logs.withLock({ $0 }) { log.log(entry) }
  }

  /// Replaces the level and the destinations. The manager calls this after each change.
  func follow(_ route: Route) {
    logs.withLock { $0 = route.logs }
    threshold.store(route.logs.isEmpty ? Level.off.severity : route.level.severity, ordering: .relaxed)
  }
}
