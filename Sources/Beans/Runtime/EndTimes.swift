/// The times of one end. A release that hangs is abandoned shortly before the deadline, so that all others are
/// released. A release that still runs at the deadline is named in the error, and abandoned later.
struct EndTimes: Sendable {
  /// The time that an end waits before the wait is logged.
  static let firstReport = Duration.seconds(3)
  /// The time before the deadline that is reserved for the other releases. Also the minimum time of each release.
  static let reserve = Duration.milliseconds(100)

  let begun: Duration
  let isLimited: Bool
  /// The time that the end may take; `EndingClock.longest` where it is not limited.
  let limit: Duration
  private let deadline: Duration
  /// The time from which a release is abandoned if it has been running for longer than the reserve.
  private let late: Duration

  init(begun: Duration, limit: Duration?) {
    self.begun = begun
    isLimited = limit != nil
    self.limit = min(max(limit ?? EndingClock.longest, .zero), EndingClock.longest)
    deadline = begun + self.limit
    late = deadline - min(Self.reserve, self.limit / 2)
  }

  func isNearlyOver(_ now: Duration) -> Bool { now >= late }

  func isOver(_ now: Duration) -> Bool { now >= deadline }

  /// Returns the time that a release may take if it begins at `time`.
  func allowed(beginning time: Duration) -> Duration {
    let end = max(late, time + Self.reserve)
    return if end < deadline { end - time } else { max(deadline, time) + Self.reserve - time }
  }

  /// Returns the time of the next check.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - report: the time of the next report in the log.
  func next(after now: Duration, report: Duration) -> Duration {
    if now < late { return min(late, report) }
    // No thread waits any more: the checks become rarer.
    let next = now + max(.milliseconds(10), (now - deadline) / 8)
    return if now < deadline { min(next, deadline) } else { next }
  }
}
