/// The comparison of the container with the reference.
enum Comparison {
  /// Returns the first line in which they differ; nil if there is none.
  static func difference(_ scenario: Scenario, mistake: Mistake? = nil) -> String? {
    if ReferenceRules(scenario).undecided != nil { return nil }
    let outcome = ContainerUnderTest.run(scenario)
    let found = outcome.lines
    var choices = Choices()
    func expect() -> (lines: [String], same: Int) {
      let lines = ReferenceContainer.run(scenario, orders: outcome.orders, mistake: mistake, &choices)
      return (lines, zip(lines, found).prefix(while: ==).count)
    }
    let (expected, same) = expect()
    if choices.isUndecided { return nil }
    var last = (lines: expected, same: same)
    while last.same < last.lines.count || last.same < found.count, choices.advance() { last = expect() }
    if choices.isUndecided || last.same == last.lines.count && last.same == found.count { return nil }
    func line(_ lines: [String]) -> String { same < lines.count ? lines[same] : "nothing" }
    let operation = found.prefix(same).last { $0.hasPrefix("operation") || $0 == "end" } ?? "the beginning"
    return "after \(operation) the container says '\(line(found))', the reference '\(line(expected))'"
  }

  /// Returns a difference, with the smallest scenario that has one, as Swift.
  static func report(_ scenario: Scenario, mistake: Mistake? = nil) -> String {
    let shrunk = ScenarioShrinker { difference($0, mistake: mistake) != nil }.shrink(scenario)
    return "\(difference(shrunk, mistake: mistake) ?? "it is gone")\n\n\(ScenarioSwift.source(shrunk))"
  }
}

/// The decisions of the reference where the container does not show its own.
struct Choices {
  /// Whether the contract leaves the rest of the outcome to the container.
  var isUndecided = false
  private var taken: [(choice: Int, count: Int)] = []
  private var next = 0
  private var runs = 1

  /// Returns one of so many possibilities.
  mutating func choose(_ count: Int) -> Int {
    if next == taken.count { taken.append((0, count)) }
    next += 1
    return taken[next - 1].choice
  }

  /// Proceeds to other decisions; returns false if there are none, or too many.
  mutating func advance() -> Bool {
    runs += 1
    while let last = taken.last, last.choice + 1 == last.count { taken.removeLast() }
    if runs == 1_000 { isUndecided = true }
    guard !taken.isEmpty, !isUndecided else { return false }
    taken[taken.count - 1].choice += 1
    next = 0
    return true
  }
}
