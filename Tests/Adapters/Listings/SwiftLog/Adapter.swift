// listing
import BeansLogging
import Logging

extension LogMetadata {
  var forSwiftLog: Logging.Logger.Metadata { reduce(into: [:]) { $0[$1.key] = .string($1.value) } }
}

extension Logging.Logger.MetadataProvider {
  /// The metadata of the running environment and task, for every logger of swift-log.
  static let beans = Self { LogMetadata.current.forSwiftLog }
}

/// Passes the entries of swift-beans to the backend of swift-log.
final class SwiftLogDestination: BeansLogging.Log, @unchecked Sendable {  // has no state
  /// Whether the task is passing an entry: one that a `BeansLogHandler` brings back is dropped.
  @TaskLocal private static var isPassing = false

  override func log(_ entry: LogEntry) {
    if Self.isPassing { return }
    Self.$isPassing.withValue(true) {
      var logger = Logging.Logger(label: entry.logger)
      logger.logLevel = .trace  // the LogManager has decided
      logger.log(
        level: .init(entry.level), "\(entry.message)", error: entry.error,
        metadata: entry.metadata.forSwiftLog, file: entry.file, function: entry.function, line: UInt(entry.line))
    }
  }
}

/// Passes the events of swift-log to the destinations of the `LogManager`.
struct BeansLogHandler: LogHandler {
  var metadata: Logging.Logger.Metadata = [:]
  var metadataProvider: Logging.Logger.MetadataProvider?
  private var ownLevel: Logging.Logger.Level?
  private let logger: BeansLogging.Logger
  init(label: String) { logger = LogManager.getLogger(forName: label) }

  var logLevel: Logging.Logger.Level {
    get { ownLevel ?? .init(logger.level) }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let provided = metadataProvider?.get() ?? [:]
    let all = provided.merging(metadata) { $1 }.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    logger.log(
      .init(event.level), error: event.error, message: "\(event.message)",
      metadata: all.reduce(into: [:]) { $0[$1.key] = "\($1.value)" }, file: event.file,
      function: event.function, line: Int(event.line), column: 0)
  }
}

extension Logging.Logger.Level {
  init(_ level: BeansLogging.Level) {
    switch level {
    case .all: self = .trace
    case .debug: self = .debug
    case .info: self = .info
    case .warn: self = .warning
    case .error: self = .error
    case .fatal, .off: self = .critical
    }
  }
}

extension BeansLogging.Level {
  init(_ level: Logging.Logger.Level) {
    switch level {
    case .trace, .debug: self = .debug
    case .info, .notice: self = .info
    case .warning: self = .warn
    case .error: self = .error
    case .critical: self = .fatal
    }
  }
}

/// Sends every line to a backend of swift-log. Call it, or `receive`, before the first logger is made.
func send(to backend: @escaping @Sendable (String, Logging.Logger.MetadataProvider?) -> any LogHandler) {
  LoggingSystem.bootstrap(backend, metadataProvider: .beans)
  LogManager().registerLogger("", level: .info, logs: [SwiftLogDestination(name: "swift-log")])
}

/// Receives every line in destinations of `BeansLogging`. No event loop waits for them.
func receive(in destinations: [BeansLogging.Log]) {
  let queues = destinations.map { QueuedLog(name: $0.name, delegate: $0) }
  LogManager().registerLogger("", level: .info, logs: queues)
  LoggingSystem.bootstrap({ label, _ in BeansLogHandler(label: label) }, metadataProvider: nil)
}
// end
