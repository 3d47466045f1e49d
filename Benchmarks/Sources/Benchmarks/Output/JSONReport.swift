/// Tables for machines: an array of scenarios, each with its rows and facts. Times are nanoseconds per operation.
enum JSONReport {
  static func text(_ tables: [Table]) -> String { array(tables.map(object), indent: "") + "\n" }

  private static func object(_ table: Table) -> String {
    fields([
      ("scenario", string(table.scenario)), ("title", string(table.title)), ("operation", string(table.operation)),
      ("clock", string(table.clock)), ("rows", array(table.rows.map(object), indent: "  ")),
      ("facts", array(table.facts.map(object), indent: "  ")),
      ("failures", array(table.failures.map(string), indent: "  ")),
    ])
  }

  private static func object(_ row: Table.Row) -> String {
    fields([
      ("name", string(row.name)), ("reference", row.reference.map(string) ?? "null"),
      ("nanoseconds", samples(row.nanoseconds)), ("ratio", row.reference == nil ? "null" : samples(row.ratio)),
      ("allocations", number(row.allocations)), ("liveBytes", number(row.liveBytes)),
      ("liveBytesBeyond", number(row.liveBytesBeyond)),
    ])
  }

  private static func object(_ fact: Table.Fact) -> String {
    fields([("name", string(fact.name)), ("value", number(fact.value)), ("unit", string(fact.unit))])
  }

  private static func samples(_ samples: Samples) -> String {
    fields([
      ("median", number(samples.median)), ("minimum", number(samples.minimum)), ("maximum", number(samples.maximum)),
      ("rounds", number(Double(samples.values.count))),
    ])
  }

  private static func fields(_ fields: [(name: String, value: String)]) -> String {
    "{" + fields.map { "\(string($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
  }

  private static func array(_ elements: [String], indent: String) -> String {
    if elements.isEmpty { return "[]" }
    return "[\n" + elements.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)]"
  }

  private static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "null" }
    return Text.number(value, digits: 3)
  }

  private static func string(_ text: String) -> String {
    var escaped = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      default: escaped.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
      }
    }
    return escaped + "\""
  }
}
