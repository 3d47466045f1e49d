/// Writes messages under one path.
///
/// A message below the threshold of `LogManager` costs one relaxed load: it is not built. From any thread.
public struct Logger: Sendable {
  /// The path, dotted from the general to the specific.
  public let path: String

  /// Something only a developer wants to know.
  public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
  /// Something an operator may want to know.
  public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
  /// Something is wrong, and the program went on.
  public func warn(_ message: @autoclosure () -> String) { log(.warn, message()) }
  /// Something failed.
  public func error(_ message: @autoclosure () -> String) { log(.error, message()) }

  /// Writes the message where the level reaches the threshold.
  public func log(_ level: Level, _ message: @autoclosure () -> String) {
    guard LogManager.isEnabled(level) else { return }
    LogManager.dispatch(LogEntry(logger: path, level: level, message: message()))
  }
}
