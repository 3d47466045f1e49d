import Beans

/// Sessions that can be told of: a `SessionRegistry`, whatever its sessions are built from.
public protocol SessionReporting: AnyObject, Sendable {
  /// What declarations call the scope of the sessions.
  var scopeName: String { get }
  /// The counts, and what only the sessions themselves know.
  func statistics() -> SessionStatistics
  /// What `statistics()` tells, as a line of text for people.
  func report() -> String
}

/// Sessions whose counts are kept, and that can be looked at in slices.
package protocol SurveyedSessions: SessionReporting {
  /// The counts, and what so many sessions know; no lock is held for longer than a slice.
  ///
  /// - Parameter maximum: how many are looked at, at most; 0 costs the same whatever their number.
  /// - Returns: whether nothing is left to look at, too.
  func statistics(lookingAt maximum: Int) -> (statistics: SessionStatistics, isComplete: Bool)
  /// Statistics as a line of text for people.
  func report(_ statistics: SessionStatistics) -> String
}

extension SessionRegistry: SurveyedSessions {
  /// What declarations call the scope of the sessions.
  public var scopeName: String { factory.scopeName }
}
