import Beans

/// The cost of parts that an application has many of: levels, beans of a request, listeners, child factories. A plot
/// for each.
struct Curves {
  let settings: Settings

  private static let depths = [1, 4, 16, 64]
  private static let widths = [1, 8, 64, 512, 4096]
  private static let listeners = [0, 1, 10, 100]
  private static let levels = [1, 4, 16, 64, 250]

  func measure() throws -> Table {
    var table = Table(
      scenario: "curves", title: "many levels, beans, listeners and child factories",
      operation: "as the row says; startups are compared with that of one level")
    try addDepths(to: &table)
    try addWidths(to: &table)
    try addListeners(to: &table)
    try addLevels(to: &table)
    return table
  }

  private func addDepths(to table: inout Table) throws {
    var lines: [Plot.Line] = []
    for (name, contestant) in [
      ("a singleton", CurveContestants.singleton), ("a bean of level 1", CurveContestants.outermost),
    ] {
      let rows = try contest([CurveContestants.field(name)] + Self.depths.map(contestant), 1_000_000)
      table.rows += rows
      lines.append(line(name, Self.depths, rows.dropFirst()) { row, _ in row.nanoseconds.median })
    }
    table.plots.append(
      Plot(
        file: "depth.svg", title: "A lookup from children of children",
        horizontal: Plot.Axis(name: "levels below the application", scale: .logarithmic),
        vertical: Plot.Axis(name: "ns a lookup"), lines: lines))
  }

  private func addWidths(to table: inout Table) throws {
    var (byHand, byContainer): ([Table.Row], [Table.Row]) = ([], [])
    for width in Self.widths {
      try CurveContestants.check(width: width)
      let rows = try contest(
        [CurveContestants.wideByHand(width), try CurveContestants.wide(width)], max(1, 200_000 / (width + 3)), width)
      table.rows += rows
      byHand.append(rows[0])
      byContainer.append(rows[1])
    }
    let perBean = { (row: Table.Row, width: Int) in row.nanoseconds.median / Double(width) }
    table.plots.append(
      Plot(
        file: "beans.svg", title: "A request of many beans",
        horizontal: Plot.Axis(name: "beans in a request", scale: .logarithmic),
        vertical: Plot.Axis(name: "ns a bean"),
        lines: [
          line("Beans", Self.widths, byContainer, perBean), line("hand-written", Self.widths, byHand, perBean),
        ]))
  }

  private func addListeners(to table: inout Table) throws {
    var (byHand, byContainer): ([Table.Row], [Table.Row]) = ([], [])
    for count in Self.listeners {
      try CurveContestants.check(listeners: count)
      let rows = try contest(
        [CurveContestants.eventByHand(listeners: count), try CurveContestants.event(listeners: count)],
        200_000 / (count + 3), count)
      table.rows += rows
      byHand.append(rows[0])
      byContainer.append(rows[1])
    }
    let counts = Self.listeners.filter { $0 > 0 }
    let perListener = { (row: Table.Row, count: Int) in row.nanoseconds.median / Double(count) }
    table.plots.append(
      Plot(
        file: "listeners.svg", title: "An event with many listeners",
        horizontal: Plot.Axis(name: "listeners", scale: .logarithmic), vertical: Plot.Axis(name: "ns a listener"),
        lines: [
          line("Beans", counts, byContainer.dropFirst(), perListener),
          line("hand-written", counts, byHand.dropFirst(), perListener),
        ]))
  }

  private func addLevels(to table: inout Table) throws {
    let stopwatch = Stopwatch()
    let rows = try Contest(
      settings: settings,
      contestants: Self.levels.map { CurveContestants.startup(levels: $0, stopwatch) { try $0.shutdown() } },
      operations: settings.operations.map { max(1, $0 / 1_000) } ?? 2, clock: { stopwatch.total }, counted: 1
    ).rows()
    table.rows += rows
    table.plots.append(
      Plot(
        file: "levels.svg", title: "The startup of nested child factories",
        horizontal: Plot.Axis(name: "levels", scale: .logarithmic),
        vertical: Plot.Axis(name: "µs a level"),
        lines: [line("Beans", Self.levels, rows) { row, levels in row.nanoseconds.median / 1000 / Double(levels) }]))
  }

  /// Fewer operations where each does `size` times as much.
  private func contest(_ contestants: [Contestant], _ usual: Int, _ size: Int = 1) throws -> [Table.Row] {
    try Contest(
      settings: settings, contestants: contestants,
      operations: settings.operations.map { max(1, $0 / max(1, size)) } ?? usual,
      counted: max(1, min(1000, 100_000 / max(1, size)))
    ).rows()
  }

  private func line(
    _ name: String, _ sizes: [Int], _ rows: some Sequence<Table.Row>, _ value: (Table.Row, Int) -> Double
  ) -> Plot.Line {
    Plot.Line(name: name, points: zip(sizes, rows).map { Plot.Point(x: Double($0), y: value($1, $0)) })
  }
}
