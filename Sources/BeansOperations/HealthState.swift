/// The state of one check. The first outcome decides it; after that only several in a row turn it.
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
  /// The time of the last turn; nil before the first outcome.
  private(set) var since: Timestamp?
  /// The cause of the last failure. Nil while the check is up and has not failed since.
  private(set) var reason: String?
  /// The time that the last answer took.
  private(set) var duration: Duration?

  /// Takes an outcome in.
  ///
  /// - Parameters:
  ///   - failure: the reason of a failure; nil for a success.
  ///   - duration: the time that the check took; nil where it has not answered.
  ///   - options: the number of outcomes that turn it.
  ///   - time: the time of the outcome.
  /// - Returns: Whether the status has changed.
  mutating func note(
    _ failure: String?, _ duration: Duration?, _ options: OperationsOptions, at time: Timestamp
  ) -> Bool {
    let outcome = failure == nil ? Status.up : .down
    if let failure { reason = failure }
    if let duration { self.duration = duration }
    guard outcome != status else {
      contrary = 0
      if status == .up { reason = nil }
      return false
    }
    contrary += 1
    let needed = outcome == .up ? options.successAttempts : options.failureAttempts
    guard status == .unknown || contrary >= needed else { return false }
    (status, contrary, since) = (outcome, 0, time)
    if status == .up { reason = nil }
    return true
  }
}
