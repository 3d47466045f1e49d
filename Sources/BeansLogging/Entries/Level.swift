/// The severity of a log entry; as the level of a logger, the lowest severity that the logger writes.
public enum Level: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
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

  /// Orders levels by severity.
  public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

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
