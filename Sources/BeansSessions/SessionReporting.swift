import Beans

/// A source of session statistics: a `SessionRegistry` with any seed.
public protocol SessionReporting: AnyObject, Sendable {
  /// The name of the sessions' scope in declarations.
  var scopeName: String { get }
  /// Returns the counts, and the figures that only the sessions themselves have.
  func statistics() -> SessionStatistics
  /// Returns `statistics()` as a line of text for people.
  func report() -> String
}

/// A source of session statistics that maintains counts, and whose sessions can be surveyed in slices.
package protocol SurveyedSessions: SessionReporting {
  /// Returns the counts, and the figures of some sessions; no lock is held for longer than a slice.
  ///
  /// - Parameter maximum: the maximum number of surveyed sessions; with 0 the cost is independent of their number.
  /// - Returns: the statistics, and true if the survey is complete.
  func statistics(lookingAt maximum: Int) -> (statistics: SessionStatistics, isComplete: Bool)
  /// Returns statistics as a line of text for people.
  func report(_ statistics: SessionStatistics) -> String
}

extension SessionRegistry: SurveyedSessions {
  /// The name of the sessions' scope in declarations.
  public var scopeName: String { factory.scopeName }
}
