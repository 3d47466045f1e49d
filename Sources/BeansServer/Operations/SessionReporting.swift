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

extension SessionRegistry: SessionReporting {
  /// What declarations call the scope of the sessions.
  public var scopeName: String { factory.scopeName }
}
