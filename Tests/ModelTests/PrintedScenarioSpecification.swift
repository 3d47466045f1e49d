import Beans
import Glibc
import Testing

@Suite("A scenario as Swift", .timeLimit(.minutes(60))) struct PrintedScenarioSpecification {
  @Test(
    "A printed scenario compiles, and prints the outcome of the scenario",
    .disabled(if: getenv("SANITIZER") != nil, "what was built for a sanitizer cannot be linked without it"))
  func printedScenariosRun() throws {
    for (seed, scenario) in try scenarios() {
      let source = ScenarioSwift.source(scenario)
      let printed = try SwiftProgram(source: source).run()
      #expect(compared(printed, scenario) == ContainerUnderTest.run(scenario).lines, "seed \(seed):\n\(source)")
    }
  }

  /// Returns a few scenarios that together show all features.
  private func scenarios() throws -> [(seed: UInt64, scenario: Scenario)] {
    var missing = ScenarioFeature.all
    var chosen: [(UInt64, Scenario)] = []
    let candidates = (UInt64(1)...500).map { ($0, ScenarioGenerator.scenario(seed: $0)) }
      .filter { $0.1.declarationCount <= 30 }.map { ($0, $1, ScenarioFeature.features(of: $1)) }
    while !missing.isEmpty {
      let next = candidates.max { $0.2.intersection(missing).count < $1.2.intersection(missing).count }
      let best = try #require(next)
      try #require(!best.2.isDisjoint(with: missing), "no scenario has \(missing.sorted())")
      missing.subtract(best.2)
      chosen.append((best.0, best.1))
    }
    return chosen
  }

  /// Returns the lines of a program, with faults and prototypes as in `Outcome`, without the lines for readers.
  private func compared(_ printed: [String], _ scenario: Scenario) -> [String] {
    let recorder = Recorder(scenario)
    var lines: [String] = []
    var prototypes: [String] = []
    // The log writes there, too: random beans are not `Sendable`.
    let isLogged = { (line: String) in line.contains("[Beans.Environment] WARN") }
    for line in printed where !line.isEmpty && !line.hasPrefix("  ") && !isLogged(line) {
      if line == "end" || line.hasPrefix("operation") { Outcome.end(&lines, &prototypes) }
      if line.hasPrefix("fault ") {
        let faults = line.split(separator: " ").dropFirst().map { fault in
          let parts = fault.split(separator: "@")
          return recorder.fault(String(parts[0]), line: Int(parts[1].dropFirst()))
        }
        lines.append(Fault.text(faults))
      } else if line.hasPrefix("~ ") {
        prototypes.append(String(line.dropFirst(2)))
      } else {
        lines.append(line)
      }
    }
    return lines
  }
}
