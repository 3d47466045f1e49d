import Synchronization

/// Follows what a program does, step by step, by dotted paths: for developers, and off unless told otherwise.
///
/// A path without a level of its own has that of its nearest ancestor; "" is the root. While every path is off, a trace
/// costs one relaxed load: the message is not built. The static functions speak of one tracer for the process. From any
/// thread.
public final class Tracer: Sendable {
  /// How much detail; as the level of a trace: in how much detail it belongs.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// Nothing.
    case off
    /// The large steps.
    case low
    /// Their parts.
    case medium
    /// Each single thing.
    case high
    /// Everything.
    case full

    /// By detail.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  private struct State {
    var levels: [String: Level] = [:]
    var destination: LogManager.Log
  }

  /// That of the process, which the static functions use. Writes to standard error, through a `QueuedLog`.
  public static let shared = Tracer()

  /// `timestamp [path]: message`.
  public static let format =
    LogFormatter.timestamp() + " [" + LogFormatter.logger() + "]: " + LogFormatter.message()

  /// The raw value of the highest level that any path has.
  private let highest = Atomic<Int>(Level.off.rawValue)
  private let state: Monitor<State>

  /// Creates a tracer, all off. Its traces reach the destination as entries of level `.all` whose logger is the path.
  public init(destination: LogManager.Log? = nil) {
    state = Monitor(State(destination: destination ?? Self.standardError()))
  }

  private static func standardError() -> LogManager.Log {
    let console = ConsoleLog(name: "trace", formatter: format, synchronize: false, output: .standardError)
    return QueuedLog(name: console.name, delegate: console)
  }

  // MARK: of the process

  /// Sets the level of a path and all below it that have none of their own.
  public static func setTraceLevel(_ path: String, level: Level) { shared.setTraceLevel(path, level: level) }

  /// Sends traces elsewhere from now on; what the destination before has kept back is written.
  public static func setDestination(_ destination: LogManager.Log) { shared.setDestination(destination) }

  /// Whether a trace would be written. One relaxed load while everything is off.
  public static func isEnabled(_ path: String, level: Level) -> Bool { shared.isEnabled(path, level: level) }

  /// Writes the message where the path is traced in that detail.
  ///
  /// - Parameters:
  ///   - path: the dotted path that is traced.
  ///   - level: how much detail it is.
  ///   - message: what the program does; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  public static func trace(
    _ path: String, level: Level, message: @autoclosure () -> String, file: String = #fileID,
    function: String = #function, line: Int = #line, column: Int = #column
  ) {
    shared.trace(path, level: level, message: message(), file: file, function: function, line: line, column: column)
  }

  // MARK: of one tracer

  /// Sets the level of a path and all below it that have none of their own.
  public func setTraceLevel(_ path: String, level: Level) {
    state.withLock { state in
      state.levels[path] = level
      let highest = state.levels.values.max() ?? .off
      self.highest.store(highest.rawValue, ordering: .relaxed)
    }
  }

  /// Sends traces elsewhere from now on; what the destination before has kept back is written.
  public func setDestination(_ destination: LogManager.Log) {
    let before = state.withLock { state in
      defer { state.destination = destination }
      return state.destination
    }
    if before !== destination { before.flush(within: LogManager.patience) }
  }

  /// Whether a trace would be written. One relaxed load while everything is off.
  public func isEnabled(_ path: String, level: Level) -> Bool { destination(path, level) != nil }

  /// Writes the message where the path is traced in that detail.
  ///
  /// - Parameters:
  ///   - path: the dotted path that is traced.
  ///   - level: how much detail it is.
  ///   - message: what the program does; asked for only where it is written.
  ///   - file: where it is logged, filled in by the compiler.
  ///   - function: the function that logs, filled in by the compiler.
  ///   - line: where in the file.
  ///   - column: where in the line.
  public func trace(
    _ path: String, level: Level, message: @autoclosure () -> String, file: String = #fileID,
    function: String = #function, line: Int = #line, column: Int = #column
  ) {
    guard let destination = destination(path, level) else { return }
    destination.log(
      LogEntry(
        logger: path, level: .all, message: message(), file: file, function: function, line: line, column: column))
  }

  /// Returns when every trace so far has been written.
  public func flush() { state.withLock { $0.destination }.flush() }

  /// nil where the path is not traced in that detail.
  private func destination(_ path: String, _ level: Level) -> LogManager.Log? {
    guard level.rawValue <= highest.load(ordering: .relaxed), level != .off else { return nil }
    return state.withLock { state in
      for ancestor in LogPath.chain(path) {
        if let found = state.levels[ancestor] { return level <= found ? state.destination : nil }
      }
      return nil
    }
  }
}
