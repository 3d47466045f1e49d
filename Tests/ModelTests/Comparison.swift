/// How the container and the reference are compared.
enum Comparison {
  /// The first line in which they differ; nil where there is none.
  static func difference(_ scenario: Scenario, mistake: Mistake? = nil) -> String? {
    let outcome = ContainerUnderTest.run(scenario)
    let found = outcome.lines
    let expected = ReferenceContainer.run(scenario, orders: outcome.orders, mistake: mistake)
    let same = zip(expected, found).prefix(while: agree).count
    if same == expected.count, same == found.count { return nil }
    func line(_ lines: [String]) -> String { same < lines.count ? lines[same] : "nothing" }
    let operation = found.prefix(same).last { $0.hasPrefix("operation") || $0 == "end" } ?? "the beginning"
    return "after \(operation) the container says '\(line(found))', the reference '\(line(expected))'"
  }

  /// Whether the container may say a line where the reference says another one, which may name several faults.
  private static func agree(_ expected: String, _ found: String) -> Bool {
    expected == found || expected.split(separator: " or ").contains(found[...])
  }

  /// A difference, with the smallest scenario that shows one, as Swift.
  static func report(_ scenario: Scenario, mistake: Mistake? = nil) -> String {
    let shrunk = ScenarioShrinker { difference($0, mistake: mistake) != nil }.shrink(scenario)
    return "\(difference(shrunk, mistake: mistake) ?? "it is gone")\n\n\(ScenarioSwift.source(shrunk))"
  }
}
