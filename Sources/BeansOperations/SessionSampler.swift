import Beans
import Dispatch

/// The figures of one source of sessions: counts that it maintains, and a sample of its sessions.
final class SessionSampler: Sendable {
  private let sessions: any ScopeReporting
  private let sampled: Sampled<Sample>

  private struct Sample: Sendable {
    let statistics: ScopeStatistics
    /// The text of a source that cannot survey its sessions in slices, if they are many.
    var report: String?
  }

  /// Creates a sampler.
  ///
  /// - Parameters:
  ///   - sessions: the source of the sessions.
  ///   - queue: the queue on which many sessions are sampled.
  init(_ sessions: any ScopeReporting, on queue: DispatchQueue) {
    self.sessions = sessions
    sampled = Sampled(on: queue) { maximum in
      if let sessions = sessions as? any SurveyedScope {
        let (statistics, isComplete) = sessions.statistics(lookingAt: maximum)
        return (Sample(statistics: statistics), isComplete)
      }
      let statistics = sessions.statistics()
      let areMany = Self.areMany(statistics)
      return (Sample(statistics: statistics, report: areMany ? sessions.report() : nil), maximum == .max || !areMany)
    }
  }

  private static func areMany(_ statistics: ScopeStatistics) -> Bool {
    statistics.open > Sampled<Sample>.slice
  }

  /// The counts, exact if the source maintains them. If there are more sessions than a slice, the figures of single
  /// sessions are those of the last sample.
  var statistics: ScopeStatistics {
    guard let kept = (sessions as? any SurveyedScope)?.statistics(lookingAt: 0) else {
      return sampled.figures(areMany: sampled.last.map { Self.areMany($0.statistics) } ?? false).statistics
    }
    if kept.isComplete { return kept.statistics }
    let sample = sampled.figures(areMany: Self.areMany(kept.statistics)).statistics
    var statistics = kept.statistics
    statistics.inUse = min(sample.inUse, statistics.open)
    (statistics.oldestAge, statistics.longestIdle) = (sample.oldestAge, sample.longestIdle)
    return statistics
  }

  /// The statistics as text for people.
  var report: String {
    let statistics = statistics
    if let sessions = sessions as? any SurveyedScope { return sessions.report(statistics) }
    return sampled.last?.report ?? sessions.report()
  }
}
