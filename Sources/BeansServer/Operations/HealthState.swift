/// What is known of one check: turned only by several outcomes in a row, but by the first one.
struct HealthState: Sendable {
  enum Status: String, Sendable {
    /// It has not answered yet.
    case unknown = "UNKNOWN"
    case up = "UP"
    case down = "DOWN"
  }

  private(set) var status = Status.unknown
  /// Outcomes in a row that speak against the status.
  private(set) var contrary = 0
  /// Why it is down, or has failed last.
  private(set) var reason: String?
  /// How long the last answer took.
  private(set) var duration: Duration?

  /// Takes an outcome in.
  ///
  /// - Parameters:
  ///   - failure: why the check failed; nil where it did not.
  ///   - duration: how long it took; nil where it has not answered.
  ///   - options: how many outcomes turn it.
  /// - Returns: whether the status has changed.
  mutating func note(_ failure: String?, _ duration: Duration?, _ options: OperationsOptions) -> Bool {
    let outcome = failure == nil ? Status.up : .down
    reason = failure
    if let duration { self.duration = duration }
    guard outcome != status else {
      contrary = 0
      return false
    }
    contrary += 1
    let needed = outcome == .up ? options.successAttempts : options.failureAttempts
    guard status == .unknown || contrary >= needed else { return false }
    (status, contrary) = (outcome, 0)
    return true
  }
}
