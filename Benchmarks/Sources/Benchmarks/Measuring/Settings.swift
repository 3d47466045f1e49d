/// How thoroughly is measured.
struct Settings {
  var rounds = 15
  /// Replaces a scenario's own number of operations per round.
  var operations: Int?
  /// How many objects are held for the bytes per live object.
  var held = 100_000
  /// How many sessions, siblings and timers there are where scale is what is measured.
  var live = 1_000_000
  /// How many times the hand-written time a request may take; nil where nobody checks.
  var limit: Double?

  func operations(_ usual: Int) -> Int { operations ?? usual }
}
