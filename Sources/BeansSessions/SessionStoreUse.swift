/// The uses of a store of sessions by one node so far.
public struct SessionStoreUse: Sendable, Equatable {
  /// Lookups of a session.
  public var loads = 0
  /// Sessions created.
  public var creates = 0
  /// Changes that the store has accepted.
  public var saves = 0
  /// Sessions that a request has ended.
  public var ends = 0
  /// Changes that the store has refused because other requests have changed the same values.
  public var conflicts = 0
  /// Other errors of the store, and values that could not be encoded.
  public var failures = 0
  /// Stored values that were treated as absent.
  public var unreadable = 0

  init() {}
}
