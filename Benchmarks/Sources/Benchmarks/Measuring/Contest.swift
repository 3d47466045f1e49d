import CMeasure

/// Measures contestants that do the same operation, one of which is written by hand.
struct Contest {
  let settings: Settings
  /// The first is the one that the others are compared with.
  let contestants: [Contestant]
  let operations: Int
  var held: Int = 0
  /// Thread time for work on one thread, wall time for the rest.
  var clock: () -> Double = { ThreadClock.nanoseconds }
  /// The number of operations watched for allocations; 0 if the count would mean nothing.
  var counted = 1000

  func rows() throws -> [Table.Row] {
    let reference = contestants[0].name
    var rows = contestants.map { Table.Row(name: $0.name, reference: $0.name == reference ? nil : reference) }
    for contestant in contestants { try contestant.run(operations / 10 + 1) }
    for round in 0..<settings.rounds {
      // Interleaved, and each round starts with another one, so that no contestant always has the warm machine.
      for step in rows.indices {
        let index = (round + step) % rows.count
        let start = clock()
        try contestants[index].run(operations)
        rows[index].nanoseconds.add((clock() - start) / Double(operations))
      }
      for index in rows.indices.dropFirst() {
        rows[index].ratio.add(rows[index].nanoseconds.latest / rows[0].nanoseconds.latest)
      }
    }
    for (index, contestant) in contestants.enumerated() {
      try SelfCheck.expect(
        rows[index].nanoseconds.minimum > SelfCheck.leastNanoseconds, "'\(contestant.name)' did nothing")
      if counted > 0 { rows[index].allocations = try allocations(contestant) }
      rows[index].liveBytes = try liveBytes(contestant)
      if index > 0, let bytes = rows[index].liveBytes, let least = rows[0].liveBytes {
        rows[index].liveBytesBeyond = bytes - least
      }
    }
    return rows
  }

  private func allocations(_ contestant: Contestant) throws -> Double {
    measure_start_counting()
    let result = Result { try contestant.run(counted) }
    let blocks = measure_stop_counting()
    try result.get()
    return Double(blocks) / Double(counted)
  }

  private func liveBytes(_ contestant: Contestant) throws -> Double? {
    guard held > 0, let hold = contestant.hold else { return nil }
    let before = measure_live_bytes()
    var during = before
    try hold(held) { during = measure_live_bytes() }
    // The array that holds them is not theirs.
    return Double(during - before) / Double(held) - Double(MemoryLayout<AnyObject>.size)
  }
}
