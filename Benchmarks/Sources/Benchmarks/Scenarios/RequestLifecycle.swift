/// A whole request: open a child environment, build its eight beans, finish it. Beside the same objects made by hand.
struct RequestLifecycle {
  let settings: Settings

  func measure() throws -> Table {
    try RequestContestants.check()
    let operations = settings.operations(100_000)
    var table = Table(
      scenario: "request", title: "8 beans on 4 of 20 singletons",
      operation: "open a request environment, build its 8 beans, finish it")
    table.rows = try Contest(
      settings: settings,
      contestants: [
        RequestContestants.handwritten(), RequestContestants.handwrittenContext(), RequestContestants.container(),
        RequestContestants.containerWithValue(),
      ], operations: operations, held: settings.held
    ).rows()
    table.rows += try Contest(
      settings: settings,
      contestants: [RequestContestants.handwrittenDisposable(), RequestContestants.containerDisposable()],
      operations: operations
    ).rows()
    table.rows += try Contest(
      settings: settings,
      contestants: [
        RequestContestants.handwrittenProperties(), RequestContestants.containerInSwift(),
        RequestContestants.containerByKeyPath(), RequestContestants.containerInXML(),
      ], operations: operations, held: settings.held
    ).rows()
    check(&table)
    return table
  }

  /// Counts are exact, so they are always checked; times differ between machines, their ratio little.
  private func check(_ table: inout Table) {
    for (name, beyond) in RequestContestants.allocationsBeyondBeans {
      guard let row = table.row(name), let allocations = row.allocations,
        let least = table.row(row.reference ?? name)?.allocations
      else { continue }
      if allocations > least + beyond + 0.01 {
        table.failures.append("\(name): \(allocations) allocations, \(beyond) beyond the beans' own are allowed")
      }
    }
    // The row without the boxed seed is the one that the quality asked for is about.
    if let limit = settings.limit, let ratio = table.row(RequestContestants.containerName)?.ratio.median, ratio > limit
    {
      table.failures.append(
        "\(RequestContestants.containerName): \(Text.number(ratio, digits: 2)) times hand-written, \(limit) are allowed"
      )
    }
  }
}
