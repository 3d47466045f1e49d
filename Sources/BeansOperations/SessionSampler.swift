import BeansServer
import Dispatch

/// What one source of sessions tells of them: counts that it keeps, and what a sample of its sessions finds.
final class SessionSampler: Sendable {
  private let sessions: any SessionReporting
  private let sampled: Sampled<Sample>

  private struct Sample: Sendable {
    let statistics: SessionStatistics
    /// The text of a source that cannot look at its sessions in slices, where they are many.
    var report: String?
  }

  /// - Parameters:
  ///   - sessions: whose sessions are looked at.
  ///   - queue: where they are looked at if they are many.
  init(_ sessions: any SessionReporting, on queue: DispatchQueue) {
    self.sessions = sessions
    sampled = Sampled(on: queue) { maximum in
      if let sessions = sessions as? any SurveyedSessions {
        let (statistics, isComplete) = sessions.statistics(lookingAt: maximum)
        return (Sample(statistics: statistics), isComplete)
      }
      let statistics = sessions.statistics()
      let areMany = Self.areMany(statistics)
      return (Sample(statistics: statistics, report: areMany ? sessions.report() : nil), maximum == .max || !areMany)
    }
  }

  private static func areMany(_ statistics: SessionStatistics) -> Bool {
    statistics.counts.open > Sampled<Sample>.slice
  }

  var scopeName: String { sessions.scopeName }

  /// The counts, exact where the source keeps them; what was found out session by session is that of the last sample where the
  /// sessions are more than a slice.
  var statistics: SessionStatistics {
    guard let kept = (sessions as? any SurveyedSessions)?.statistics(lookingAt: 0) else {
      return sampled.figures(areMany: sampled.last.map { Self.areMany($0.statistics) } ?? false).statistics
    }
    if kept.isComplete { return kept.statistics }
    var statistics = sampled.figures(areMany: Self.areMany(kept.statistics)).statistics
    statistics.counts = kept.statistics.counts
    statistics.inUse = min(statistics.inUse, statistics.counts.open)
    return statistics
  }

  /// The statistics as text for people.
  var report: String {
    let statistics = statistics
    if let sessions = sessions as? any SurveyedSessions { return sessions.report(statistics) }
    return sampled.last?.report ?? sessions.report()
  }
}
