/// How much a log entry matters; as the level of a logger: what matters enough to be written.
public enum Level: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
  /// Everything.
  case all
  /// For developers.
  case debug
  /// For operators, in normal operation.
  case info
  /// Something is wrong, and the program went on.
  case warn
  /// Something failed.
  case error
  /// The program cannot go on.
  case fatal
  /// Nothing.
  case off

  /// By severity.
  public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

  /// In capitals, as it stands in a log line.
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

/// The levels in capitals, for configurations written that way.
extension Level {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `all`.
  public static var ALL: Level { .all }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `debug`.
  public static var DEBUG: Level { .debug }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `info`.
  public static var INFO: Level { .info }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `warn`.
  public static var WARN: Level { .warn }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `error`.
  public static var ERROR: Level { .error }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `fatal`.
  public static var FATAL: Level { .fatal }
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `off`.
  public static var OFF: Level { .off }
}
