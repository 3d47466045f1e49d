import Beans

/// Idle times by the clock of the sessions.
///
/// The table knows the uses by way of `Sessions`. A use that it does not see, such as a child that outlives
/// `withSession`, makes the session a watched one, which is checked eight times within the limit. So the session ends
/// no earlier than the limit after its last use, and no later than nine eighths of the limit after it.
extension SessionTable {
  /// Converts a limit to nanoseconds: at least a millisecond, and at most 146 years, so that sums of times and limits do
  /// not overflow.
  static func nanoseconds(_ limit: Duration) -> UInt64 {
    min(max(UInt64(nanosecondsOf: limit), 1_000_000), .max / 4)
  }

  /// The time between two checks of a watched session.
  private static func interval(_ idleLimit: UInt64) -> UInt64 { idleLimit / 8 }

  /// The time of the next check; nil without a session.
  var nextCheck: UInt64? { checks.first?.time }

  /// Notes a use at the present time. The check keeps its time, which is too early then, unless the session is to be
  /// watched.
  mutating func noteIdleTime(_ index: Int32, isWatched: Bool) {
    guard let idleLimit else { return }
    entries[Int(index)]?.idleSince = clockTime
    entries[Int(index)]?.isWatched = isWatched
    let check = clockTime + Self.interval(idleLimit)
    if isWatched, let known = checks.time(of: index), known > check { checks.move(index, to: check) }
  }

  /// Closes idle sessions that are not in use. The caller calls their `finish()`.
  ///
  /// - Parameter maximum: the maximum number of checked sessions.
  mutating func closeIdle(checking maximum: Int) -> [Environment] {
    var closed: [Environment] = []
    for _ in 0..<maximum {
      guard let idleLimit, let node = checks.first, node.time <= clockTime, let entry = entries[Int(node.index)] else {
        break
      }
      if entry.environment.isFinished {
        // Something else has ended the session; the table removes it when its beans are released.
        checks.remove(node.index)
      } else if entry.environment.isInUse || entry.isWatched {
        // A watched session without a use was used until now at the latest.
        let isInUse = entry.environment.isInUse
        entries[Int(node.index)]?.idleSince = clockTime
        entries[Int(node.index)]?.isWatched = isInUse
        checks.move(node.index, to: clockTime + (isInUse ? Self.interval(idleLimit) : idleLimit))
      } else if clockTime - min(entry.idleSince, clockTime) < idleLimit {
        checks.move(node.index, to: entry.idleSince + idleLimit)
      } else if entry.environment.closeIfUnused(.idle) {
        unlist(node.index)
        entries[Int(node.index)]?.isExpired = true
        closed.append(entry.environment)
      } else {
        // A thread has entered or ended the session since.
        checks.move(node.index, to: clockTime + Self.interval(idleLimit))
      }
    }
    return closed
  }
}
