public import BeansLogging

/// How `Operations` judges health, and what it lets its callers do.
public struct OperationsOptions: Sendable {
  /// How many failures in a row turn a check that has been well.
  public var failureAttempts = 3
  /// How many successes in a row turn a check that has failed.
  public var successAttempts = 2
  /// How long a check may take before that is logged and counts as a failure; again each time as much more has passed.
  public var slowCheck = Duration.seconds(10)
  /// Whether `POST /loggers/{path}` may set levels.
  public var maySetLevels = false
  /// Whose loggers `/loggers` tells of, and where health is logged; the installed manager, if nil.
  public var logs: LogManager?
  /// How many children of each environment the text of `/environments` names.
  public var maximumChildren = 50

  /// The usual ones.
  public init() {}
}
