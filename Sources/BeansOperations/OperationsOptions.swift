public import BeansLogging

/// The thresholds of health in `Operations`, and the permissions of its callers.
public struct OperationsOptions: Sendable {
  /// The number of failures in a row after which a passing check is down.
  public var failureAttempts = 3
  /// The number of successes in a row after which a failed check is up.
  public var successAttempts = 2
  /// The time after which a running check is logged and recorded as a failure; again after each further period.
  public var slowCheck = Duration.seconds(10)
  /// Whether `POST /loggers/{path}` may set levels.
  public var maySetLevels = false
  /// The manager of the loggers in `/loggers`, to which health is logged; if nil, the installed manager.
  public var logs: LogManager?
  /// The maximum number of children of each environment in the text of `/environments`.
  public var maximumChildren = 50

  /// Creates the default options.
  public init() {}
}
