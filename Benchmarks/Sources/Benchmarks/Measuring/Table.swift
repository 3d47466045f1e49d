/// What one scenario has measured.
struct Table {
  /// What was measured of one contestant.
  struct Row {
    let name: String
    /// Per operation.
    var nanoseconds = Samples()
    /// The name of the hand-written row it is compared with; nil for a hand-written row.
    var reference: String?
    /// The times that of the reference, round by round.
    var ratio = Samples()
    /// Per operation, counted.
    var allocations: Double?
    /// Per object held.
    var liveBytes: Double?
    /// The rows without those of the reference.
    var liveBytesBeyond: Double?
  }

  /// A figure that is no row.
  struct Fact {
    let name: String
    let value: Double
    let unit: String
  }

  let scenario: String
  let title: String
  /// What one operation is.
  let operation: String
  /// Whether the time is that of the thread's processor or that of the clock on the wall.
  var clock = "processor"
  var rows: [Row] = []
  var facts: [Fact] = []
  var plots: [Plot] = []
  /// Why the scenario has failed.
  var failures: [String] = []

  func row(_ name: String) -> Row? { rows.first { $0.name == name } }
}
