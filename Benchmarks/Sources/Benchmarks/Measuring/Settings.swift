/// The thoroughness of the measurements.
struct Settings {
  var rounds = 15
  /// Replaces a scenario's own number of operations per round.
  var operations: Int?
  /// The number of objects held for the bytes per live object.
  var held = 100_000
  /// The number of sessions, siblings and timers, where scale is measured.
  var live = 1_000_000
  /// The most times the hand-written time that a request may take; nil for no limit.
  var limit: Double?

  func operations(_ usual: Int) -> Int { operations ?? usual }
}
