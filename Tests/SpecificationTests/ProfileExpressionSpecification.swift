import Beans
import BeansLogging
import Testing

private final class Clock: Initializable, Sendable {}

/// Returns an environment that has not started, with the active profiles as the configuration lists them.
private func makeEnvironment(_ profiles: String, parent: Environment? = nil) throws -> Environment {
  let environment = try Environment(name: "shop", parent: parent)
  return try environment.define(environment.settings().setValue(key: "beans.profiles", value: profiles))
}

@Suite struct ProfileExpressionSpecification {
  @FreshEnvironment("shop") private var environment

  @Test(
    "An expression holds if the active profiles satisfy it",
    arguments: [
      ("production & eu", ["production, eu"], ["production", "eu", "test"]),
      ("production | test", ["production", "test", "production, test"], ["eu"]),
      ("production & !eu", ["production"], ["production, eu", "eu"]),
      ("!production & !test", ["eu"], ["production", "test", "production, test"]),
      ("!(production | test)", ["eu"], ["production", "test"]),
      ("!(production & eu)", ["production", "eu", "test"], ["production, eu"]),
      ("!!production", ["production"], ["test"]),
      ("(production & eu) | test", ["production, eu", "test"], ["production", "eu"]),
      ("production & (eu | us) & !test", ["production, us"], ["production", "us", "production, eu, test"]),
      ("production&eu", ["production, eu"], ["production"]),
      ("  ( production )  ", ["production"], ["test"]),
      ("eu-west_1.b+c@d", ["eu-west_1.b+c@d"], ["eu"]),
      ("prüfung", ["prüfung"], ["test"]),
    ])
  func anExpressionHoldsIfTheActiveProfilesSatisfyIt(text: String, holds: [String], fails: [String]) throws {
    for (profiles, isActive) in holds.map({ ($0, true) }) + fails.map({ ($0, false) }) {
      let environment = try makeEnvironment(profiles)
      try environment.define(environment.bean(Clock.self).profile(text))
      try environment.include(Adhoc { try $0.define($0.bean(Clock.self, id: "module")) }.profile(text))
      let visits = try environment.childFactory("visit", seed: Int.self, under: { $0.profile(text) })
      #expect(try environment.getBeansByType(Clock.self).count == (isActive ? 2 : 0), "\(text) with \(profiles)")
      #expect(((try? visits.build(1)) != nil) == isActive, "\(text) with \(profiles)")
      try environment.shutdown()
    }
  }

  @Test("One of several expressions has to hold")
  func oneOfSeveralExpressionsHasToHold() throws {
    for (profiles, isActive) in [("production, eu", true), ("test", true), ("production", false)] {
      let environment = try makeEnvironment(profiles)
      try environment.define(environment.bean(Clock.self).profile("production & eu", "test"))
      #expect(try (environment.getBean(Clock?.self) != nil) == isActive)
    }
  }

  @Test("The reason names the profiles that decide")
  func theReasonNamesTheProfilesThatDecide() throws {
    let reasons = [
      "production & eu & test": "profile 'eu' is not active, profile 'test' is not active",
      "eu | !production": "profile 'eu' is not active, profile 'production' is active",
      "!(production | eu)": "profile 'production' is active",
    ]
    for (text, reason) in reasons {
      let environment = try makeEnvironment("production")
      try environment.define(environment.bean(Clock.self).profile(text)).startup()
      #expect(environment.report().contains("- Clock inactive: \(reason)\n"), "\(environment.report())")
    }
  }

  @Test(
    "A malformed expression is a fault at its declaration",
    arguments: [
      "", "  ", "&", "!", "a &", "& a", "a && b", "a !b", "a b", "a & b | c", "(a", "a)", "()", "a (b)", "a, b", "a; b",
      "a & (b | c & d)",
    ])
  func aMalformedExpressionIsAFaultAtItsDeclaration(text: String) throws {
    let line: Int = #line + 1
    try environment.define(environment.bean(Clock.self).profile("never").profile(text))
    let fault = try requireFault(.invalidDeclaration, path: ["Clock"], line: line) { try environment.startup() }
    #expect(fault.message.hasPrefix("'\(text)' is no profile expression: "), "\(fault)")
  }

  @Test("A malformed expression of a module or in inactive children is a fault, too")
  func aMalformedExpressionOfAModuleOrInInactiveChildrenIsAFaultToo() throws {
    try environment.include(Adhoc { _ in }.profile("never").profile("a &"))
    let line: Int = #line - 1
    try environment.childFactory("visit", seed: Int.self, under: { $0.profile("never") }) { visit in
      try visit.define(visit.bean(Clock.self).profile("b c"))
    }
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.invalidDeclaration, .invalidDeclaration])
    #expect(faults.compactMap(\.origin?.line) == [line, line + 3])
  }

  @Test("A condition of no profile is a fault")
  func aConditionOfNoProfileIsAFault() throws {
    try environment.define(environment.bean(Clock.self).profile())
    try environment.include(Adhoc { _ in }.profile())
    #expect(try startupFaults(of: environment).allSatisfy { $0.message == "a condition names no profile" })
  }

  @Test("A deep expression is a fault, not a trap")
  func aDeepExpressionIsAFaultNotATrap() throws {
    let texts = [
      String(repeating: "!", count: 100_000) + "a",
      String(repeating: "(", count: 100_000) + "a" + String(repeating: ")", count: 100_000),
    ]
    for text in texts {
      let environment = try Environment(name: "shop")
      try environment.define(environment.bean(Clock.self).profile(text))
      let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
      #expect(fault.message.utf8.count < 300)
    }
  }
}

@Suite(.timeLimit(.minutes(20))) struct UnnamedProfileSpecification {
  @Test("An active profile that no declaration names is reported")
  func anActiveProfileThatNoDeclarationNamesIsReported() throws {
    let environment = try makeEnvironment("prodution, eu")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self).profile("production & !eu"))
    #expect(!environment.report().contains("no declaration names"))
    try environment.startup()
    let lines = environment.report().split(separator: "\n").filter { $0.contains("no declaration names") }
    #expect(lines == ["no declaration names the active profile 'prodution'; did you mean 'production'?"])
  }

  @Test("A profile is named by a module or in the children of a factory, too")
  func aProfileIsNamedByAModuleOrInTheChildrenOfAFactoryToo() throws {
    let environment = try makeEnvironment("module, child, inner")
    defer { try? environment.shutdown() }
    try environment.include(Adhoc { _ in }.profile("absent | !module"))
    try environment.childFactory("visit", seed: Int.self) { visit in
      try visit.define(visit.bean(Clock.self).profile("child"))
      try visit.childFactory("step", seed: Int.self) { try $0.include(Adhoc { _ in }.profile("inner")) }
    }
    try environment.startup()
    #expect(!environment.report().contains("no declaration names"))
  }

  @Test("The default profile needs no name")
  func theDefaultProfileNeedsNoName() throws {
    let environment = try Environment(name: "shop")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self).profile("production")).startup()
    #expect(!environment.report().contains("no declaration names"))
  }

  @Test("The log warns once of an unnamed profile")
  func theLogWarnsOnceOfAnUnnamedProfile() async {
    await #expect(processExitsWith: .success) {
      let lines = Lines(name: "lines", formatter: .level() + " " + .message())
      let manager = LogManager()
      manager.registerLogger("Beans", level: .warn, logs: [lines])
      let parent = try makeEnvironment("production, eu")
      try parent.define(parent.bean(Clock.self).profile("eu")).startup()
      let child = try Environment(name: "child", parent: parent).startup()
      let other = try makeEnvironment("eu, us", parent: parent).startup()
      let warnings = [
        "WARN 'shop': no declaration names the active profile 'production'",
        "WARN 'shop': no declaration names the active profile 'us'",
      ]
      #expect(lines.all == warnings)
      #expect(!child.report().contains("no declaration names"))
      for environment in [child, other, parent] { try environment.shutdown() as Void }
    }
  }
}
