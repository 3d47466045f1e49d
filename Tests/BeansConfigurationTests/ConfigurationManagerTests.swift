import TestSupport
import BeansErrors
import Testing

@testable import BeansConfiguration

@Suite struct ConfigurationManagerTests {
  private let manager = ConfigurationManager()

  // MARK: reading

  @Test func valuesAreConvertedWhenTheyAreRead() throws {
    try manager.addSource(FixedSource("a", ["port": "8080", "size": 3, "list": "1,2"]))
    #expect(try manager.getValue(String.self, key: "port") == "8080")
    #expect(try manager.getValue(Int.self, key: "port") == 8080)
    #expect(try manager.getValue(Int?.self, key: "port") == 8080)
    #expect(try manager.getValue(Double.self, key: "size") == 3)
    #expect(try manager.getValue([Int].self, key: "list") == [1, 2])
    #expect(try manager.getValue((any Sendable & Equatable).self, key: "size") as? Int == 3)
  }

  @Test func missingValuesHaveDefaultsOrAFault() throws {
    try manager.addSource(FixedSource("a", [ConfigurationItem(namespace: "shop", key: "port", value: 1)]))
    #expect(!manager.hasValue(key: "port"))
    #expect(manager.hasValue(namespace: "shop", key: "port"))
    #expect(try manager.getValue(Int.self, key: "port", defaultValue: 7) == 7)
    #expect(try manager.getValue(Int?.self, key: "port") == nil)
    #expect(try manager.getValue(Int?.self, key: "port", defaultValue: 3) == 3)
    let fault = #expect(throws: EnvironmentError.self) {
      try manager.getValue(Int.self, namespace: "shop", key: "prt", scope: "a.b")
    }
    #expect(fault?.code == .missingConfiguration)
    for part in ["prt", "shop", "a.b", "did you mean 'shop:port'"] {
      #expect(fault?.message.contains(part) == true, "\(part)")
    }
  }

  @Test func aValueThatDoesNotConvertNamesItsKeyAndSource() throws {
    try manager.addSource(FixedSource("the file", ["port": "many", "engine": Engine()]))
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(Int.self, key: "port") }
    #expect(fault?.code == .conversionFailed)
    for part in ["port", "the file", "many", "Int"] { #expect(fault?.message.contains(part) == true, "\(part)") }
    #expect(code { try manager.getValue(Int.self, key: "engine") } == .noConversion)
    // A default replaces a missing value, not a wrong one.
    #expect(code { try manager.getValue(Int.self, key: "port", defaultValue: 1) } == .conversionFailed)
  }

  @Test func aValueIsConvertedOnceForEachType() throws {
    let count = Counter()
    manager.conversions.register(String.self, targetType: Int.self) {
      count.increment()
      return $0.count
    }
    let source = FixedSource("a", ["key": "four"])
    try manager.addSource(source)
    for _ in 0..<5 { #expect(try manager.getValue(Int.self, key: "key") == 4) }
    #expect(count.value == 1)
    try manager.configurationChanged(ConfigurationItem(key: "key", value: "seven"), source: source)
    #expect(try manager.getValue(Int.self, key: "key") == 5)
    #expect(count.value == 2)
    let child = ConfigurationManager(parent: manager)
    #expect(try child.getValue(Int.self, key: "key") == 5)
    #expect(count.value == 2)
  }

  @Test func aChildWithConversionsOfItsOwnDoesNotSeeTheParents() throws {
    try manager.addSource(FixedSource("a", ["key": "1"]))
    let child = ConfigurationManager(parent: manager)
    #expect(try child.getValue(Int.self, key: "key") == 1)
    child.conversions.register(String.self, targetType: Int.self) { _ in 99 }
    #expect(try child.getValue(Int.self, key: "key") == 99)
    #expect(try manager.getValue(Int.self, key: "key") == 1)
  }

  // MARK: scopes

  @Test func scopesAreSearchedFromTheSpecificToTheGeneral() throws {
    try manager.addSource(
      FixedSource(
        "a",
        [("", 0), ("a", 1), ("a.b", 2), ("a.b.c.d", 4)].map {
          ConfigurationItem(key: "k", value: $0.1, scope: $0.0)
        }))
    func value(_ scope: String) throws -> Int { try manager.getValue(Int.self, key: "k", scope: scope) }
    #expect(try value("") == 0)
    #expect(try value("a") == 1)
    #expect(try value("a.b") == 2)
    #expect(try value("a.b.c") == 2)
    #expect(try value("a.b.c.d") == 4)
    #expect(try value("a.x.c.d.e") == 1)
    #expect(try value("x.y") == 0)
    #expect(try value("..") == 0)
    #expect(!manager.hasValue(key: "other", scope: "a.b.c"))
  }

  @Test func aFaultHintsAtAValueOfAnotherScope() throws {
    try manager.addSource(FixedSource("a", [ConfigurationItem(key: "k", value: 1, scope: "a")]))
    #expect(!manager.hasValue(key: "k"))
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(Int.self, key: "k") }
    #expect(fault?.message.contains("other scopes") == true)
  }

  // MARK: sources

  @Test func laterSourcesThatMayOverruleWin() throws {
    try manager.addSource(FixedSource("a", ["k": 1]))
    try manager.addSource(FixedSource("b", canOverrule: true, ["k": 2]))
    #expect(try manager.getValue(Int.self, key: "k") == 2)
  }

  @Test func aSourceThatMayNotOverruleIsRefusedAsAWhole() throws {
    try manager.addSource(FixedSource("first", ["k": 1]))
    let second = FixedSource("second", ["k": 2, "other": 3])
    let fault = #expect(throws: EnvironmentError.self) { try manager.addSource(second) }
    #expect(fault?.code == .invalidDeclaration)
    for part in ["'k'", "first", "second"] { #expect(fault?.message.contains(part) == true, "\(part)") }
    #expect(try manager.getValue(Int.self, key: "k") == 1)
    #expect(!manager.hasValue(key: "other"))
  }

  @Test func aSourceThatFailsToLoadLeavesNothing() throws {
    let source = FixedSource("a", canOverrule: true, [ConfigurationItem(key: "k", value: 1)], failing: Boom())
    let told = Counter()
    manager.addListener(Int.self, key: "k") { _ in told.increment() }
    #expect(throws: Boom.self) { try manager.addSource(source) }
    #expect(!manager.hasValue(key: "k"))
    #expect(told.value == 0)
    #expect(!manager.report().contains("k = 1"))
  }

  @Test func addingASourceTwiceDoesNothing() throws {
    let source = FixedSource("a", ["k": 1])
    try manager.addSource(source)
    try manager.addSource(source)
    #expect(try manager.getValue(Int.self, key: "k") == 1)
  }

  @Test func aChangeOfAnOverruledValueStaysOverruled() throws {
    let first = FixedSource("a", ["k": 1])
    let second = FixedSource("b", canOverrule: true, ["k": 2])
    try manager.addSource(first)
    try manager.addSource(second)
    try manager.configurationChanged(ConfigurationItem(key: "k", value: 10), source: first)
    #expect(try manager.getValue(Int.self, key: "k") == 2)
    try manager.configurationReplaced(with: [], source: second)
    #expect(try manager.getValue(Int.self, key: "k") == 10)
    try manager.configurationReplaced(with: [], source: first)
    #expect(!manager.hasValue(key: "k"))
  }

  @Test func anEarlierSourceCannotAddAValueBelowOneThatMayNotOverrule() throws {
    let first = FixedSource("a", [:])
    try manager.addSource(first)
    try manager.addSource(FixedSource("b", ["k": 2]))
    let item = ConfigurationItem(key: "k", value: 1)
    #expect(code { try manager.configurationAdded(item, source: first) } == .invalidDeclaration)
    #expect(code { try manager.configurationChanged(item, source: first) } == .invalidDeclaration)
    #expect(try manager.getValue(Int.self, key: "k") == 2)
  }

  @Test func aSourceThatMayNotOverruleHasEachKeyOnce() throws {
    let items = [1, 2].map { ConfigurationItem(key: "k", value: $0) }
    #expect(code { try manager.addSource(FixedSource("a", items)) } == .invalidDeclaration)
    try manager.addSource(FixedSource("a", canOverrule: true, items))
    #expect(try manager.getValue(Int.self, key: "k") == 2)
    #expect(
      code { try manager.addSource(FixedSource("b", [ConfigurationItem(key: "", value: 1)])) } == .invalidDeclaration)
  }

  @Test func theNearestManagerDecides() throws {
    try manager.addSource(FixedSource("a", ["k": 1, "inherited": 5]))
    let child = ConfigurationManager(parent: manager)
    // No source of the parent prevents it.
    try child.addSource(FixedSource("b", ["k": 2]))
    #expect(try child.getValue(Int.self, key: "k") == 2)
    #expect(try manager.getValue(Int.self, key: "k") == 1)
    #expect(try child.getValue(Int.self, key: "inherited") == 5)
  }

  @Test func reportGroupsBySource() throws {
    try manager.addSource(FixedSource("first", ["k": 1, "name": "x"]))
    try manager.addSource(
      FixedSource(
        "second", canOverrule: true,
        [
          ConfigurationItem(key: "k", value: 2),
          ConfigurationItem(namespace: "n", key: "d", value: 3, scope: "a.b", dynamic: true),
        ]))
    let child = ConfigurationManager(parent: manager)
    try child.addSource(FixedSource("third", ["own": 9]))
    #expect(
      child.report() == """
        ### CONFIGURATION REPORT
        - third
            own = '9'
        inherited:
        - first
            k = '1' overruled by: second
            name = 'x'
        - second, can overrule
            k = '2'
            n:d = '3' scope: a.b dynamic: true

        """)
  }

  @Test func closingReleasesSources() throws {
    weak var weakSource: FixedSource?
    do {
      let source = FixedSource("a", ["k": 1])
      weakSource = source
      try manager.addSource(source)
    }
    #expect(weakSource != nil)
    manager.close()
    #expect(weakSource == nil)
    #expect(try manager.getValue(Int.self, key: "k") == 1)
  }

  @Test func theEndOfAValueMayUseTheManager() throws {
    let source = FixedSource("a", [:])
    try manager.addSource(source)
    try manager.addSource(FixedSource("b", ["other": 1]))
    let (manager, ends) = (manager, Counter())
    func change() throws {
      let value = Farewell { if manager.hasValue(key: "other") { ends.increment() } }
      try manager.configurationChanged(ConfigurationItem(key: "k", value: value), source: source)
    }
    try change()
    try change()
    #expect(ends.value == 1)
    try manager.configurationReplaced(with: [], source: source)
    #expect(ends.value == 2)
    try change()
    manager.withdraw(source)
    #expect(ends.value == 3)
  }

  @Test func readersAndWritersMayUseManyThreads() throws {
    let source = FixedSource("a", ["k": 0])
    try manager.addSource(source)
    let child = ConfigurationManager(parent: manager)
    let manager = manager
    _ = try onThreads(6) { number in
      for round in 0..<300 {
        if number == 0 {
          try manager.configurationChanged(ConfigurationItem(key: "k", value: "\(round)"), source: source)
        } else {
          _ = try child.getValue(Int.self, key: "k")
          if round % 50 == 0 { child.addListener(Int.self, key: "k") { _ in }.cancel() }
        }
      }
    }
    #expect(try child.getValue(Int.self, key: "k") == 299)
  }
}

private final class Engine: Sendable {}
private final class Farewell: Sendable {
  private let say: @Sendable () -> Void
  init(_ say: @escaping @Sendable () -> Void) { self.say = say }
  deinit { say() }
}
