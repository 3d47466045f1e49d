/// The severity of a log entry; as the level of a logger, the lowest severity that the logger writes. Ordered by severity.
public enum Level: Sendable, Comparable, CaseIterable, CustomStringConvertible {
  /// The lowest level: a logger of this level writes every entry.
  case all
  /// A detail for developers.
  case debug
  /// An event of normal operation, for operators.
  case info
  /// A problem after which the program continues.
  case warn
  /// A failure.
  case error
  /// A failure after which the program cannot continue.
  case fatal
  /// The highest level: a logger of this level writes no entry.
  case off

  /// The position among the levels, from 0: a number that can be stored atomically.
  @inlinable var severity: Int {
    switch self {
    case .all: 0
    case .debug: 1
    case .info: 2
    case .warn: 3
    case .error: 4
    case .fatal: 5
    case .off: 6
    }
  }

  /// The name in capitals, as in a log line.
  public var description: String {
    switch self {
    case .all: "ALL"
    case .debug: "DEBUG"
    case .info: "INFO"
    case .warn: "WARN"
    case .error: "ERROR"
    case .fatal: "FATAL"
    case .off: "OFF"
    }
  }
}

/// Levels in capitals, as the examples of the original framework spell them.
extension Level {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `all`.
  public static var ALL: Level { .all }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `warn`.
  public static var WARN: Level { .warn }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `off`.
  public static var OFF: Level { .off }
}
