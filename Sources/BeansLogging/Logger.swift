public import Synchronization

/// Writes messages under one path, to the destinations that `LogManager` has for it.
///
/// A message below the logger's level costs one relaxed load: it is not built, nothing is locked or allocated. Whatever
/// the manager is told later reaches loggers that were handed out before. From any thread.
public final class Logger: Sendable {
  /// The path, dotted from the general to the specific, as it was asked for.
  public let path: String

  /// The raw value of the lowest level that is written.
  @usableFromInline let threshold = Atomic<Int>(Level.off.rawValue)
  private let logs = Monitor<[LogManager.Log]>([])

  init(path: String) { self.path = path }

  /// What is written at least. One relaxed load.
  public var level: Level { Level(rawValue: threshold.load(ordering: .relaxed)) ?? .off }

  /// Whether a message of that level is written. One relaxed load.
  @inlinable @inline(__always)
  public func isEnabled(_ level: Level) -> Bool {
    level.rawValue >= threshold.load(ordering: .relaxed) && level != .off
  }

  // MARK: messages

  /// Something only a developer wants to know.
  ///
  /// - Parameters:
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func debug(
    _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(.debug, message(), file: file, function: function, line: line, column: column)
  }

  /// Something an operator may want to know.
  ///
  /// - Parameters:
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func info(
    _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(.info, message(), file: file, function: function, line: line, column: column)
  }

  /// Something is wrong, and the program went on.
  ///
  /// - Parameters:
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func warn(
    _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(.warn, message(), file: file, function: function, line: line, column: column)
  }

  /// Something failed. Without a stack trace.
  ///
  /// - Parameters:
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func error(
    _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(.error, message(), file: file, function: function, line: line, column: column)
  }

  /// The program cannot go on. Without a stack trace; does not end the program.
  ///
  /// - Parameters:
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func fatal(
    _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(.fatal, message(), file: file, function: function, line: line, column: column)
  }

  /// Something failed: the message, the error and the stack trace, which is only taken where it is written.
  ///
  /// - Parameters:
  ///   - error: what was thrown.
  ///   - stackTrace: where it was logged from; asked for at most once, and only where it is written.
  ///   - message: what happened; asked for at most once, and only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func error(
    _ error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = Stacktrace.current(),
    message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(
      .error, error: error, stackTrace: stackTrace(), message: message(), file: file, function: function, line: line,
      column: column)
  }

  /// The program cannot go on: the message, the error and the stack trace. Does not end the program.
  ///
  /// - Parameters:
  ///   - error: what was thrown.
  ///   - stackTrace: where it was logged from; asked for at most once, and only where it is written.
  ///   - message: what happened; asked for at most once, and only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func fatal(
    _ error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = Stacktrace.current(),
    message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    log(
      .fatal, error: error, stackTrace: stackTrace(), message: message(), file: file, function: function, line: line,
      column: column)
  }

  /// A message of any level.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - message: what happened; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func log(
    _ level: Level, _ message: @autoclosure () -> String, file: String = #fileID, function: String = #function,
    line: Int = #line, column: Int = #column
  ) {
    log(level, message: message(), file: file, function: function, line: line, column: column)
  }

  /// A message of any level, with what was thrown and where.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - error: what was thrown.
  ///   - stackTrace: where it was logged from; asked for at most once, and only where it is written.
  ///   - message: what happened; asked for at most once, and only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  @inlinable
  public func log(
    _ level: Level, error: (any Error)? = nil, stackTrace: @autoclosure () -> Stacktrace? = nil,
    message: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int = #line,
    column: Int = #column
  ) {
    guard isEnabled(level) else { return }
    write(
      level, message(), error: error, stackTrace: stackTrace(), file: file, function: function, line: line,
      column: column)
  }

  /// Hands an entry to each destination, on the calling thread. Not inlined: callers are to stay small.
  @usableFromInline @inline(never)
  func write(
    _ level: Level, _ message: String, error: (any Error)?, stackTrace: Stacktrace?, file: String, function: String,
    line: Int, column: Int
  ) {
    let entry = LogEntry(
      logger: path, level: level, message: message, error: error, stackTrace: stackTrace, file: file,
      function: function, line: line, column: column)
    // Called outside the lock: a destination may be slow.
    for log in logs.withLock({ $0 }) { log.log(entry) }
  }

  /// Told by the manager, whenever something has changed.
  func follow(_ route: LogManager.Route) {
    logs.withLock { $0 = route.logs }
    threshold.store(route.logs.isEmpty ? Level.off.rawValue : route.level.rawValue, ordering: .relaxed)
  }
}
