/// The measurements of one scenario.
struct Table {
  /// The measurements of one contestant.
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
  /// The text that describes one operation.
  let operation: String
  /// The clock: that of the thread's processor or that on the wall.
  var clock = "processor"
  var rows: [Row] = []
  var facts: [Fact] = []
  var plots: [Plot] = []
  /// The reasons for which the scenario has failed.
  var failures: [String] = []

  func row(_ name: String) -> Row? { rows.first { $0.name == name } }
}
