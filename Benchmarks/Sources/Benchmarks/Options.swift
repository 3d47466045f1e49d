/// What the command line asks for.
struct Options {
  enum Scenario: String, CaseIterable { case lifecycle, memory, profile }

  struct Refused: Error, CustomStringConvertible { let description: String }

  var scenario = Scenario.lifecycle
  var rounds = 15
  var operations: Int?
  var held = 100_000
  var forget = 0
  /// The ratio above which the scenario has failed.
  var limit: Double?

  static let usage = """
    usage: Benchmarks [lifecycle] [--rounds n] [--operations n] [--held n] [--limit ratio]
           Benchmarks memory [--operations n] [--forget n]
           Benchmarks profile [--operations n]

    """

  init(_ arguments: some Sequence<String>) throws(Refused) {
    var rest = Array(arguments)[...]
    if let name = rest.first, !name.hasPrefix("--") {
      guard let scenario = Scenario(rawValue: name) else { throw Refused(description: "no scenario '\(name)'") }
      self.scenario = scenario
      rest.removeFirst()
    }
    while let name = rest.popFirst() {
      let text = rest.popFirst() ?? ""
      if name == "--limit", let ratio = Double(text), ratio > 0 {
        limit = ratio
        continue
      }
      guard let value = Int(text), value > 0 else { throw Refused(description: "'\(name)' wants a number above 0") }
      switch name {
      case "--rounds": rounds = value
      case "--operations": operations = value
      case "--held": held = value
      case "--forget": forget = value
      default: throw Refused(description: "no option '\(name)'")
      }
    }
  }
}
