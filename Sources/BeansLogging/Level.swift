/// How much a log entry matters.
public enum Level: Int, Sendable, Comparable, CustomStringConvertible {
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
  public var description: String { ["ALL", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"][rawValue] }
}
