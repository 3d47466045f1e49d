/// The options of the command line.
struct Options {
  enum Command {
    case measure([Scenario])
    case memory
    case profile(String)
    /// A command that the program gives to itself, in a process of its own.
    case coldStart(String)

    /// No operation leaves the start of a process, which a profiler counts, too.
    var leastOperations: Int {
      if case .profile = self { 0 } else { 1 }
    }
  }

  struct Refused: Error, CustomStringConvertible { let description: String }

  var command = Command.measure(Scenario.allCases)
  var settings = Settings()
  var forget = 0
  var json: String?
  var markdown: String?
  /// The folder for the plots of the scenarios that have some.
  var plots: String?

  static let usage = """
    usage: Benchmarks [scenario …] [--rounds n] [--operations n] [--held n] [--live n] [--limit ratio]
                      [--json file] [--markdown file] [--plots folder]
             measures all scenarios, or those named: \(Scenario.allCases.map(\.rawValue).joined(separator: ", "))
           Benchmarks memory [--operations n] [--forget n]
             a million request environments: does memory grow?
           Benchmarks profile [name] [--operations n]
             one side alone, for a profiler: \(CountedRun.names)

    """

  init(_ arguments: some Sequence<String>) throws(Refused) {
    var rest = Array(arguments)[...]
    try readCommand(&rest)
    while let name = rest.popFirst() {
      let text = rest.popFirst() ?? ""
      switch name {
      case "--json": json = try file(name, text)
      case "--markdown": markdown = try file(name, text)
      case "--plots": plots = try file(name, text, "folder")
      case "--limit":
        guard let ratio = Double(text), ratio > 0 else { throw Refused(description: "'\(name)' wants a ratio above 0") }
        settings.limit = ratio
      case "--rounds": settings.rounds = try number(name, text)
      case "--operations": settings.operations = try number(name, text, least: command.leastOperations)
      case "--held": settings.held = try number(name, text)
      case "--live": settings.live = try number(name, text)
      case "--forget": forget = try number(name, text)
      default: throw Refused(description: "no option '\(name)'")
      }
    }
  }

  private mutating func readCommand(_ rest: inout ArraySlice<String>) throws(Refused) {
    var scenarios: [Scenario] = []
    while let name = rest.first, !name.hasPrefix("--") {
      rest.removeFirst()
      switch name {
      case "memory" where scenarios.isEmpty:
        command = .memory
        return
      case ColdStarts.command where scenarios.isEmpty:
        command = .coldStart(rest.popFirst() ?? "")
        return
      case "profile" where scenarios.isEmpty:
        command = .profile("request")
        if let name = rest.first, !name.hasPrefix("--") {
          rest.removeFirst()
          command = .profile(name)
        }
        return
      default:
        guard let scenario = Scenario(rawValue: name) else { throw Refused(description: "no scenario '\(name)'") }
        scenarios.append(scenario)
      }
    }
    if !scenarios.isEmpty { command = .measure(scenarios) }
  }

  private func number(_ name: String, _ text: String, least: Int = 1) throws(Refused) -> Int {
    guard let value = Int(text), value >= least else {
      throw Refused(description: "'\(name)' wants a number of at least \(least)")
    }
    return value
  }

  private func file(_ name: String, _ text: String, _ kind: String = "file") throws(Refused) -> String {
    if text.isEmpty { throw Refused(description: "'\(name)' wants a \(kind)") }
    return text
  }
}
