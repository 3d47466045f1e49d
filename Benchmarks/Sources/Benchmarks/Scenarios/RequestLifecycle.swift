import CMeasure

/// A whole request: open a child environment, build its eight beans, finish it. Beside the same objects made by hand.
struct RequestLifecycle {
  let rounds: Int
  let operations: Int
  let held: Int
  /// How many times the hand-written time the container may take; nil where nobody checks.
  let limit: Double?

  /// What was measured of one contestant.
  private struct Row {
    let contestant: Contestant
    var time = Samples()
    var allocations = 0.0
    var liveBytes = 0.0
  }

  /// Prints the table; false where the container allocates more than it may, or takes longer than `limit`.
  func run() throws -> Bool {
    var rows = [
      RequestContestants.handwritten(), RequestContestants.handwrittenContext(),
      try RequestContestants.container(), try RequestContestants.containerWithValue(),
    ].map { Row(contestant: $0) }
    for row in rows { try row.contestant.run(operations / 10 + 1) }
    for round in 0..<rounds {
      // Interleaved, and each round starts with another one, so that nobody always has the warm machine.
      for step in rows.indices {
        let index = (round + step) % rows.count
        rows[index].time.add(try nanoseconds(rows[index].contestant))
      }
    }
    for index in rows.indices {
      rows[index].allocations = try allocations(rows[index].contestant)
      rows[index].liveBytes = try liveBytes(rows[index].contestant)
    }
    print(rows)
    return check(rows)
  }

  private func nanoseconds(_ contestant: Contestant) throws -> Double {
    let start = ThreadClock.nanoseconds
    try contestant.run(operations)
    return (ThreadClock.nanoseconds - start) / Double(operations)
  }

  private func allocations(_ contestant: Contestant) throws -> Double {
    let count = 1000
    measure_start_counting()
    let result = Result { try contestant.run(count) }
    let blocks = measure_stop_counting()
    try result.get()
    return Double(blocks) / Double(count)
  }

  private func liveBytes(_ contestant: Contestant) throws -> Double {
    let count = held
    let before = measure_live_bytes()
    var during = before
    try contestant.hold(count) { during = measure_live_bytes() }
    // The array that holds them is not theirs.
    return Double(during - before) / Double(count) - Double(MemoryLayout<AnyObject>.size)
  }

  private func print(_ rows: [Row]) {
    let reference = rows[0]
    Swift.print("Request lifecycle: 8 beans on 4 of 20 singletons, \(rounds) rounds of \(operations), \(held) held")
    Swift.print("")
    Swift.print(line(["", "ns/request", "min–max", "ratio", "allocations", "bytes live", "beyond beans"]))
    for row in rows {
      Swift.print(
        line([
          row.contestant.name, Text.number(row.time.median, digits: 0),
          "\(Text.number(row.time.minimum, digits: 0))–\(Text.number(row.time.maximum, digits: 0))",
          Text.number(row.time.median / reference.time.median, digits: 2), Text.number(row.allocations, digits: 2),
          Text.number(row.liveBytes, digits: 0), Text.number(row.liveBytes - reference.liveBytes, digits: 0),
        ]))
    }
  }

  private func line(_ cells: [String]) -> String {
    Text.title(cells[0], 36) + cells.dropFirst().map { Text.column($0, 14) }.joined()
  }

  /// Counts are exact, so they are always checked; times differ between machines, their ratio little.
  private func check(_ rows: [Row]) -> Bool {
    var isGood = true
    for (row, beyond) in zip(rows, [0.0, 1, 1, 2]) where row.allocations > rows[0].allocations + beyond + 0.01 {
      Swift.print("\(row.contestant.name): \(row.allocations) allocations, \(beyond) beyond the beans' own are allowed")
      isGood = false
    }
    // The row without the boxed seed is the one that the quality asked for is about.
    let ratio = rows[2].time.median / rows[0].time.median
    if let limit, ratio > limit {
      let times = Text.number(ratio, digits: 2)
      Swift.print("\(rows[2].contestant.name): \(times) times hand-written, \(limit) are allowed")
      isGood = false
    }
    return isGood
  }
}
