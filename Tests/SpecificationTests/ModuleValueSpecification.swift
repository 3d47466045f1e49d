import Beans
import Testing

private final class Rate: Sendable {
  let code: String
  init(_ code: String) { self.code = code }
}

private final class Till: Sendable {
  let rate: Rate
  init(rate: Rate) { self.rate = rate }
}

/// A module that is compared by its content.
private struct Currency: BeanModule, Hashable {
  var code: String

  func configure(_ environment: Environment) throws {
    try environment
      .define(environment.bean(Rate.self, id: "rate", factory: { [code] in Rate(code) }).private())
      .define(environment.bean(Till.self, id: code, factory: Till.init))
  }
}

/// A module whose content cannot be compared.
private struct Country: BeanModule {
  var code: String

  func configure(_ environment: Environment) throws {
    try environment.define(environment.bean(Rate.self, factory: { [code] in Rate(code) }))
  }
}

/// A module without content, as a class.
private class Plain: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment.define(environment.bean(Rate.self, factory: { Rate("plain") }))
  }
}

private final class Counted: Plain {
  let number = 1
}

/// A module that includes itself with different content each time.
private struct Endless: BeanModule, Hashable {
  var number = 0

  func configure(_ environment: Environment) throws { try environment.include(Endless(number: number + 1)) }
}

@Suite struct ModuleValueSpecification {
  private func makeEnvironment(_ profiles: String = "prod") throws -> Environment {
    let environment = try Environment(name: "shop")
    return try environment.define(environment.settings().setValue(key: "beans.profiles", value: profiles))
  }

  private func codes(_ environment: Environment) throws -> [String] {
    try environment.getBeansByType(Till.self).map(\.rate.code)
  }

  @Test("The profile of each inclusion decides which content is active")
  func theProfileOfEachInclusionDecidesWhichContentIsActive() throws {
    for (profiles, code) in [("prod", "USD"), ("test", "EUR")] {
      let environment = try makeEnvironment(profiles)
        .include(Currency(code: "USD").profile("prod"))
        .include(Currency(code: "EUR").profile("!prod"))
      defer { try? environment.shutdown() }
      #expect(try codes(environment) == [code])
    }
  }

  @Test("Modules of equal content are included once")
  func modulesOfEqualContentAreIncludedOnce() throws {
    let environment = try makeEnvironment()
      .include(Currency(code: "USD").profile("test")).include(Currency(code: "USD"))
      .include(Currency(code: "USD").profile("test"))
    defer { try? environment.shutdown() }
    #expect(try codes(environment) == ["USD"])
  }

  @Test("Modules of different content each have their private beans")
  func modulesOfDifferentContentEachHaveTheirPrivateBeans() throws {
    let environment = try makeEnvironment().include(Currency(code: "USD")).include(Currency(code: "EUR"))
    defer { try? environment.shutdown() }
    #expect(try codes(environment) == ["USD", "EUR"])
    #expect(code { try environment.getBean(Rate.self) } == .unknownBean)
  }

  @Test("A module of equal content further in sees the private beans of the outer one")
  func aModuleOfEqualContentFurtherInSeesThePrivateBeansOfTheOuterOne() throws {
    struct Lender: BeanModule, Hashable {
      var code: String
      var isInner = false
      static func == (one: Lender, other: Lender) -> Bool { one.code == other.code }
      func hash(into hasher: inout Hasher) { hasher.combine(code) }

      func configure(_ environment: Environment) throws {
        if isInner {
          try environment.define(environment.bean(Till.self, factory: Till.init))
        } else {
          try environment.define(environment.bean(Rate.self, factory: { [code] in Rate(code) }).private())
        }
      }
    }
    let shop = try makeEnvironment().include(Lender(code: "USD")).include(Lender(code: "EUR"))
    defer { try? shop.shutdown() }
    let visits = try shop.childFactory("visit", seed: Int.self) { visit in
      try visit.include(Lender(code: "EUR", isInner: true))
    }
    #expect(try visits.build(1).getBean(Till.self).rate.code == "EUR")
    let child = try Environment(name: "child", parent: shop).include(Lender(code: "USD", isInner: true))
    #expect(try child.getBean(Till.self).rate.code == "USD")
    let stranger = try Environment(name: "stranger", parent: shop).include(Lender(code: "GBP", isInner: true))
    try requireFault(.unknownBean) { try stranger.startup() }
  }

  @Test("Content that cannot be compared is a fault at the second inclusion")
  func contentThatCannotBeComparedIsAFaultAtTheSecondInclusion() throws {
    for conditions in [("prod", "!prod"), ("prod", "prod")] {
      let environment = try makeEnvironment().include(Country(code: "US").profile(conditions.0))
      try environment.include(Adhoc { try $0.include(Country(code: "EU").profile(conditions.1)) })
      let line: Int = #line - 1
      let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
      #expect(fault.message.contains("module Country is included twice") && fault.message.contains("Hashable"))
      #expect(fault.message.contains("ModuleValueSpecification.swift:\(line - 1)"))
      #expect(fault.origin?.line == line && fault.origin?.module == "Adhoc")
      #expect(fault.path == ["module Country"])
    }
  }

  @Test("A class is compared by its identity or its lack of content")
  func aClassIsComparedByItsIdentityOrItsLackOfContent() throws {
    let plain = try makeEnvironment().include(Plain()).include(Plain())
    defer { try? plain.shutdown() }
    #expect(try plain.getBeansByType(Rate.self).count == 1)
    let counted = Counted()
    let same = try makeEnvironment().include(counted).include(counted)
    defer { try? same.shutdown() }
    #expect(try same.getBeansByType(Rate.self).count == 1)
    let different = try makeEnvironment().include(Counted()).include(Counted())
    try requireFault(.invalidDeclaration) { try different.startup() }
  }

  @Test("A module that includes itself with changing content is a fault")
  func aModuleThatIncludesItselfWithChangingContentIsAFault() throws {
    let environment = try makeEnvironment()
    let fault = try requireFault(.invalidDeclaration) { try environment.include(Endless()) }
    #expect(fault.message.contains("module Endless includes itself"))
  }
}
