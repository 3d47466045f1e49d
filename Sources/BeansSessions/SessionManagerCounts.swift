/// What a `SessionManager` has done on this node so far.
public struct SessionManagerCounts: Sendable, Hashable {
  /// Sessions that requests are inside of.
  public var open = 0
  /// Sessions opened, new ones, too.
  public var opened = 0
  /// Times that the store was asked for a session.
  public var loads = 0
  /// Sessions given to the store for the first time.
  public var creates = 0
  /// Changes that the store has taken.
  public var saves = 0
  /// How often a session has got another id.
  public var rotations = 0
  /// Sessions that a request has ended.
  public var ended = 0
  /// Changes that the store has refused because others have changed the same values.
  public var conflicts = 0
  /// Other errors of the store, and values that could not be encoded.
  public var failures = 0
  /// Stored values that counted as absent.
  public var unreadable = 0

  /// Counts of nothing.
  public init() {}
}
