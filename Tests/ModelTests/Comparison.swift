/// How the container and the reference are compared.
enum Comparison {
  /// The first line in which they differ; nil where there is none.
  static func difference(_ scenario: Scenario, mistake: Mistake? = nil) -> String? {
    let outcome = ContainerUnderTest.run(scenario)
    let found = outcome.lines
    let expected = ReferenceContainer.run(scenario, orders: outcome.orders, mistake: mistake)
    if expected == found { return nil }
    let same = zip(expected, found).prefix { $0 == $1 }.count
    func line(_ lines: [String]) -> String { same < lines.count ? lines[same] : "nothing" }
    let operation = found.prefix(same).last { $0.hasPrefix("operation") || $0 == "end" } ?? "the beginning"
    return "after \(operation) the container says '\(line(found))', the reference '\(line(expected))'"
  }

  /// A difference, with the smallest scenario that shows one, as Swift.
  static func report(_ scenario: Scenario, mistake: Mistake? = nil) -> String {
    let shrunk = ScenarioShrinker { difference($0, mistake: mistake) != nil }.shrink(scenario)
    return "\(difference(shrunk, mistake: mistake) ?? "it is gone")\n\n\(ScenarioSwift.source(shrunk))"
  }
}
