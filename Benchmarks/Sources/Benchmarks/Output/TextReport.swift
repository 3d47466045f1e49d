/// Tables for people.
enum TextReport {
  static func print(_ table: Table) {
    Swift.print("\(table.scenario): \(table.title)")
    Swift.print("one operation: \(table.operation); \(table.clock) time, median of the rounds")
    Swift.print("")
    if !table.rows.isEmpty {
      Swift.print(line(["", "ns", "min–max", "ratio", "allocations", "bytes live", "beyond"]))
    }
    for row in table.rows {
      if row.reference == nil, row.name != table.rows[0].name { Swift.print("") }
      Swift.print(line([row.name] + cells(row)))
    }
    if !table.facts.isEmpty { Swift.print("") }
    for fact in table.facts {
      Swift.print("\(Text.title(fact.name, 60))\(Text.column(figure(fact.value), 14)) \(fact.unit)")
    }
    for failure in table.failures { Swift.print("FAILED: \(failure)") }
    Swift.print("")
  }

  static func cells(_ row: Table.Row) -> [String] {
    [
      figure(row.nanoseconds.median), "\(figure(row.nanoseconds.minimum))–\(figure(row.nanoseconds.maximum))",
      row.reference == nil ? "1" : Text.number(row.ratio.median, digits: 2),
      row.allocations.map { Text.number($0, digits: 2) } ?? "",
      row.liveBytes.map { Text.number($0, digits: 0) } ?? "",
      row.liveBytesBeyond.map { Text.number($0, digits: 0) } ?? "",
    ]
  }

  /// Three digits at least.
  static func figure(_ value: Double) -> String {
    Text.number(value, digits: value < 10 ? 2 : value < 100 ? 1 : 0)
  }

  private static func line(_ cells: [String]) -> String {
    Text.title(cells[0], 48) + Text.column(cells[1], 12) + Text.column(cells[2], 18)
      + cells.dropFirst(3).map { Text.column($0, 12) }.joined()
  }
}
