/// The state of one check. The first outcome decides the status; after that only several contrary outcomes in a row
/// change it.
struct HealthState: Sendable {
  enum Status: String, Sendable {
    /// The check has no outcome yet.
    case unknown = "UNKNOWN"
    case up = "UP"
    case down = "DOWN"
  }

  private(set) var status = Status.unknown
  /// The number of outcomes in a row that contradict the status.
  private(set) var contrary = 0
  /// The time of the last change; nil before the first outcome.
  private(set) var since: Timestamp?
  /// The cause of the last failure. Nil while the check is up and has not failed since.
  private(set) var reason: String?
  /// The duration of the last run.
  private(set) var duration: Duration?

  /// Records an outcome.
  ///
  /// - Parameters:
  ///   - failure: the reason of a failure; nil for a success.
  ///   - duration: the duration of the run; nil if it has not ended.
  ///   - options: the numbers of outcomes that change the status.
  ///   - time: the time of the outcome.
  /// - Returns: true if the status has changed.
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
