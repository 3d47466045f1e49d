// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Synchronization

// Declarations for the listings of the article on swift-log: the signatures are those of the package, the rest is as
// little as the listings need to run.

public struct Logger: Sendable {
  public typealias Metadata = [String: MetadataValue]

  public let label: String
  public var handler: any LogHandler

  public init(label: String) {
    self.label = label
    handler = LoggingSystem.makeHandler(label)
  }

  public var logLevel: Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }

  public subscript(metadataKey metadataKey: String) -> Metadata.Value? {
    get { handler[metadataKey: metadataKey] }
    set { handler[metadataKey: metadataKey] = newValue }
  }

  public func log(
    level: Logger.Level, _ message: @autoclosure () -> Logger.Message, error: @autoclosure () -> (any Error)? = nil,
    metadata: @autoclosure () -> Logger.Metadata? = nil, source: @autoclosure () -> String? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    guard logLevel <= level else { return }
    let event = LogEvent(
      level: level, message: message(), error: error(), metadata: metadata(), source: source(), file: file,
      function: function, line: line)
    handler.log(event: event)
  }

  public func info(
    _ message: @autoclosure () -> Logger.Message, error: @autoclosure () -> (any Error)? = nil,
    metadata: @autoclosure () -> Logger.Metadata? = nil, source: @autoclosure () -> String? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(
      level: .info, message(), error: error(), metadata: metadata(), source: source(), file: file, function: function,
      line: line)
  }
}

extension Logger {
  public enum Level: String, CaseIterable, Comparable, Sendable {
    case trace, debug, info, notice, warning, error, critical

    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  public struct Message: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    public let description: String

    public init(stringLiteral value: String) { description = value }
  }

  public enum MetadataValue: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    case string(String)
    case stringConvertible(any CustomStringConvertible & Sendable)
    case dictionary(Metadata)
    case array([Metadata.Value])

    public init(stringLiteral value: String) { self = .string(value) }

    public var description: String {
      switch self {
      case .string(let text): text
      case .stringConvertible(let value): "\(value)"
      case .dictionary(let values): "\(values.mapValues(\.description))"
      case .array(let values): "\(values.map(\.description))"
      }
    }
  }

  public struct MetadataProvider: Sendable {
    private let provide: @Sendable () -> Metadata

    public init(_ provideMetadata: @escaping @Sendable () -> Metadata) { provide = provideMetadata }

    public func get() -> Metadata { provide() }
  }
}

public protocol LogHandler: Sendable {
  var metadataProvider: Logger.MetadataProvider? { get set }
  var metadata: Logger.Metadata { get set }
  var logLevel: Logger.Level { get set }
  subscript(metadataKey _: String) -> Logger.Metadata.Value? { get set }
  func log(event: LogEvent)
}

public struct LogEvent: Sendable {
  public var level: Logger.Level
  public var message: Logger.Message
  public var error: (any Error)?
  public var metadata: Logger.Metadata?
  public var source: String
  public var file: String
  public var function: String
  public var line: UInt

  public init(
    level: Logger.Level, message: Logger.Message, error: (any Error)?, metadata: Logger.Metadata?, source: String?,
    file: String, function: String, line: UInt
  ) {
    (self.level, self.message, self.error, self.metadata) = (level, message, error, metadata)
    (self.source, self.file, self.function, self.line) = (source ?? "", file, function, line)
  }
}

public enum LoggingSystem: Sendable {
  private struct Bootstrap {
    let makeHandler: @Sendable (String, Logger.MetadataProvider?) -> any LogHandler
    let provider: Logger.MetadataProvider?
  }

  private static let current = Mutex<Bootstrap?>(nil)

  /// Unlike that of the package, may be called again.
  public static func bootstrap(
    _ factory: @escaping @Sendable (String, Logger.MetadataProvider?) -> any LogHandler,
    metadataProvider: Logger.MetadataProvider?
  ) {
    current.withLock { $0 = Bootstrap(makeHandler: factory, provider: metadataProvider) }
  }

  static func makeHandler(_ label: String) -> any LogHandler {
    guard let bootstrap = current.withLock({ $0 }) else { return SilentLogHandler() }
    return bootstrap.makeHandler(label, bootstrap.provider)
  }
}

/// The handler before `bootstrap`.
private struct SilentLogHandler: LogHandler {
  var metadataProvider: Logger.MetadataProvider?
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {}
}
