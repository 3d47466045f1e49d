/// One message on its way to the destinations.
public struct LogEntry: Sendable {
  /// The path of the logger.
  public let logger: String
  /// How much it matters.
  public let level: Level
  /// What happened.
  public let message: String

  /// Creates an entry.
  public init(logger: String, level: Level, message: String) {
    self.logger = logger
    self.level = level
    self.message = message
  }
}
