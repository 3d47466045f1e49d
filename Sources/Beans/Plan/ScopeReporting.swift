/// A source of the statistics of one scope, such as the `Sessions` of a service, for `Operations`.
public protocol ScopeReporting: AnyObject, Sendable {
  /// Returns the counts, and the figures that only the sessions themselves have.
  func statistics() -> ScopeStatistics
  /// Returns `statistics()` as a line of text for people.
  func report() -> String
}

/// A source of statistics that maintains counts, and whose sessions can be surveyed in slices.
package protocol SurveyedScope: ScopeReporting {
  /// Returns the counts, and the figures of some sessions; no lock is held for longer than a slice.
  ///
  /// - Parameter maximum: the maximum number of surveyed sessions; with 0 the cost is independent of their number.
  /// - Returns: the statistics, and true if the survey is complete.
  func statistics(lookingAt maximum: Int) -> (statistics: ScopeStatistics, isComplete: Bool)
  /// Returns statistics as a line of text for people.
  func report(_ statistics: ScopeStatistics) -> String
}
