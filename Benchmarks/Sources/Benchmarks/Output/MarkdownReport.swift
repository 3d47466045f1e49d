/// Tables for the README.
enum MarkdownReport {
  static func text(_ tables: [Table]) -> String { tables.map(text).joined(separator: "\n") }

  private static func text(_ table: Table) -> String {
    var lines = [
      "### \(table.scenario): \(table.title)", "", "One operation: \(table.operation). Measured: \(table.clock) time.",
    ]
    if !table.rows.isEmpty {
      lines += [
        "", "| | ns | min–max | ratio | allocations | bytes live | beyond |", "|---|---:|---:|---:|---:|---:|---:|",
      ]
    }
    for row in table.rows {
      lines.append("| \(([row.name] + TextReport.cells(row)).joined(separator: " | ")) |")
    }
    if !table.facts.isEmpty { lines += ["", "| | | |", "|---|---:|---|"] }
    for fact in table.facts { lines.append("| \(fact.name) | \(TextReport.figure(fact.value)) | \(fact.unit) |") }
    return lines.joined(separator: "\n") + "\n"
  }
}
