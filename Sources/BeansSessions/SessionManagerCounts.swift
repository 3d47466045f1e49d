/// Counts of the operations of a `SessionManager` on this node so far.
public struct SessionManagerCounts: Sendable, Hashable {
  /// Sessions with requests inside.
  public var open = 0
  /// Sessions opened, including new ones.
  public var opened = 0
  /// Lookups of a session in the store.
  public var loads = 0
  /// Sessions created in the store.
  public var creates = 0
  /// Changes that the store has accepted.
  public var saves = 0
  /// Changes of the id of a session.
  public var rotations = 0
  /// Sessions that a request has ended.
  public var ended = 0
  /// Changes that the store has refused because other requests have changed the same values.
  public var conflicts = 0
  /// Other errors of the store, and values that could not be encoded.
  public var failures = 0
  /// Stored values that were treated as absent.
  public var unreadable = 0

  /// Creates counts of zero.
  public init() {}
}
