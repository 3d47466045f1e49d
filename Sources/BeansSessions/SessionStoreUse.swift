/// The uses of a store of sessions by one node so far.
struct SessionStoreUse: Sendable {
  /// Lookups of a session.
  var loads = 0
  /// Sessions created.
  var creates = 0
  /// Changes that the store has accepted.
  var saves = 0
  /// Sessions that a request has ended.
  var ends = 0
  /// Changes that the store has refused because other requests have changed the same values.
  var conflicts = 0
  /// Other errors of the store, and values that could not be encoded.
  var failures = 0
  /// Stored values that were treated as absent.
  var unreadable = 0

  /// The counts by their names.
  var counts: [String: Int] {
    [
      "loads": loads, "creates": creates, "saves": saves, "ends": ends, "conflicts": conflicts, "failures": failures,
      "unreadable": unreadable,
    ]
  }
}
