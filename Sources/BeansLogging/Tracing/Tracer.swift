import Synchronization

/// Traces the steps of a program by dotted paths, for developers. Every path is off by default.
///
/// A path without a level of its own has that of its nearest ancestor; "" is the root. While every path is off, a trace
/// costs one relaxed load: the message is not built. The functions may be called from any thread.
public final class Tracer: Sendable {
  /// The detail that a path is traced in; as the level of a trace, the detail from which on the trace is written.
  public enum Level: Sendable, Comparable, CaseIterable {
    /// No trace is written.
    case off
    /// The large steps.
    case low
    /// The parts of the large steps.
    case medium
    /// Each single operation.
    case high
    /// All traces.
    case full

    /// The position among the levels, from 0: a number that can be stored atomically.
    fileprivate var detail: Int {
      switch self {
      case .off: 0
      case .low: 1
      case .medium: 2
      case .high: 3
      case .full: 4
      }
    }
  }

  private struct State {
    var levels: [String: Level] = [:]
    var destination: Log
  }

  /// The tracer of the process, which the static functions use. It writes to standard error, through a `QueuedLog`.
  package static let shared: Tracer = {
    let tracer = Tracer()
    LogExit.add { tracer.flush() }
    return tracer
  }()

  /// The default format, `timestamp [path]: message`; with the metadata of the entry, if any,
  /// `timestamp [path] {key=value}: message`.
  public static let format =
    LogFormatter.time(TimestampPattern(LogFormatter.iso8601)) + " [" + LogFormatter.logger() + "]"
    + LogFormatter.metadata(prefix: " {", suffix: "}") + ": " + LogFormatter.message()

  /// The detail of the highest level of any path.
  private let highest = Atomic<Int>(Level.off.detail)
  private let state: Monitor<State>

  /// Creates a tracer whose paths are all off. The destination receives traces as entries of level `.all` whose logger
  /// is the path.
  package init(destination: Log? = nil) {
    state = Monitor(State(destination: destination ?? Self.standardError()))
  }

  private static func standardError() -> Log {
    let console = ConsoleLog(name: "trace", formatter: format, synchronize: false, output: .standardError)
    return QueuedLog(name: console.name, delegate: console)
  }

  // MARK: the tracer of the process

  /// Sets the level of a path, and of all paths below it without a level of their own.
  public static func setTraceLevel(_ path: String, level: Level) { shared.setTraceLevel(path, level: level) }

  /// Sends traces to another destination from now on. Flushes the previous destination, and waits for at most one
  /// second.
  public static func setDestination(_ destination: Log) { shared.setDestination(destination) }

  /// Whether a trace would be written. Costs one relaxed load while every path is off.
  public static func isEnabled(_ path: String, level: Level) -> Bool { shared.isEnabled(path, level: level) }

  /// Writes the message if the path is traced at that level.
  ///
  /// - Parameters:
  ///   - path: the dotted path that is traced.
  ///   - level: the detail of the trace.
  ///   - message: the text; evaluated only when it is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  public static func trace(
    _ path: String, level: Level, message: @autoclosure () -> String, file: String = #fileID,
    function: String = #function, line: Int = #line, column: Int = #column
  ) {
    shared.trace(path, level: level, message: message(), file: file, function: function, line: line, column: column)
  }

  // MARK: one tracer

  /// Sets the level of a path, and of all paths below it without a level of their own.
  package func setTraceLevel(_ path: String, level: Level) {
    state.withLock { state in
      state.levels[path] = level
      let highest = state.levels.values.max() ?? .off
      self.highest.store(highest.detail, ordering: .relaxed)
    }
  }

  /// Sends traces to another destination from now on. Flushes the previous destination, and waits for at most one
  /// second.
  package func setDestination(_ destination: Log) {
    let before = state.withLock { state in
      defer { state.destination = destination }
      return state.destination
    }
    if before !== destination { before.flushReplaced() }
  }

  /// Whether a trace would be written. Costs one relaxed load while every path is off.
  package func isEnabled(_ path: String, level: Level) -> Bool { destination(path, level) != nil }

  /// Writes the message if the path is traced at that level.
  ///
  /// - Parameters:
  ///   - path: the dotted path that is traced.
  ///   - level: the detail of the trace.
  ///   - message: the text; evaluated only when it is written.
  ///   - file: the source file of the call, filled in by the compiler.
  ///   - function: the function of the call, filled in by the compiler.
  ///   - line: the line of the call.
  ///   - column: the column of the call.
  package func trace(
    _ path: String, level: Level, message: @autoclosure () -> String, file: String = #fileID,
    function: String = #function, line: Int = #line, column: Int = #column
  ) {
    guard let destination = destination(path, level) else { return }
    destination.log(
      LogEntry(
        logger: path, level: .all, message: message(), file: file, function: function, line: line, column: column))
  }

  /// Returns when every trace so far has been written.
  package func flush() { state.withLock { $0.destination }.flush() }

  /// Returns the destination, or nil when the path is not traced at that level.
  private func destination(_ path: String, _ level: Level) -> Log? {
    guard level.detail <= highest.load(ordering: .relaxed), level != .off else { return nil }
    return state.withLock { state in
      for ancestor in LogPath.chain(path) {
        if let found = state.levels[ancestor] { return level <= found ? state.destination : nil }
      }
      return nil
    }
  }
}
