import Beans
import Testing

private protocol Store: Sendable { var name: String { get } }

private struct DiskStore: Store { let name = "disk" }

private struct MemoryStore: Store { let name = "memory" }

private final class Ledger: Sendable {
  let store: any Store
  init(store: any Store) { self.store = store }
}

private final class Clock: Initializable, Sendable {}

private final class Atlas: Initializable, Sendable {
  var text: String { "atlas" }
}

private final class PumpFactory: Initializable, FactoryBean, Sendable {
  func create() throws -> Clock { Clock() }
}

private struct Misfit: Error {}

/// Returns an environment with profiles that has not started.
private func makeEnvironment(_ profiles: String? = nil, parent: Environment? = nil) throws -> Environment {
  let environment = try Environment(name: "shop", parent: parent)
  if let profiles { try environment.define(environment.settings().setValue(key: "beans.profiles", value: profiles)) }
  return environment
}

/// Defines one store for each of two profiles, both with the same id.
private func defineStores(in environment: Environment) throws {
  try environment
    .define(environment.bean(DiskStore.self, id: "store", factory: { DiskStore() }).profile("production"))
    .define(environment.bean(MemoryStore.self, id: "store", factory: { MemoryStore() }).profile("test", "development"))
}

@Suite struct ProfileSpecification {
  @FreshEnvironment("shop") private var environment

  @Test(
    "The configuration selects one of two declarations of one id",
    arguments: [("production", "disk"), ("test", "memory"), ("development, sales", "memory")])
  func theConfigurationSelectsOneOfTwoDeclarationsOfOneId(profiles: String, name: String) throws {
    let environment = try makeEnvironment(profiles)
    try defineStores(in: environment)
    try environment.define(environment.bean(Ledger.self, factory: Ledger.init))
    #expect(try environment.getBean(Ledger.self).store.name == name)
    #expect(try environment.getBeansByType((any Store).self).map(\.name) == [name])
    #expect(try environment.getBean((any Store).self, byId: "store").name == name)
  }

  @Test("An environment variable activates a profile by its legal name")
  func anEnvironmentVariableActivatesAProfileByItsLegalName() throws {
    try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["BEANS_PROFILES": "test"]))
    try defineStores(in: environment)
    #expect(try environment.activeProfiles == ["test"])
    #expect(try environment.getBean((any Store).self).name == "memory")
  }

  @Test("A list of profiles may be given as one")
  func aListOfProfilesMayBeGivenAsOne() throws {
    try environment.define(environment.settings().setValue(key: "beans.profiles", value: ["test", "sales", "test"]))
    #expect(try environment.activeProfiles == ["sales", "test"])
  }

  @Test("The default profile is active without any other")
  func theDefaultProfileIsActiveWithoutAnyOther() throws {
    let environment = try makeEnvironment()
    try environment
      .define(environment.bean(Clock.self).profile("default"))
      .define(environment.bean(Atlas.self).profile("test"))
    #expect(try environment.activeProfiles == ["default"])
    #expect(try environment.getBean(Clock?.self) != nil)
    #expect(try environment.getBean(Atlas?.self) == nil)
  }

  @Test("A profile may be excluded")
  func aProfileMayBeExcluded() throws {
    for (profiles, isThere) in [("test", false), ("production", true)] {
      let environment = try makeEnvironment(profiles)
      try environment.define(environment.bean(Clock.self).profile("!test"))
      let clock = try environment.getBean(Clock?.self)
      #expect((clock != nil) == isThere)
    }
  }

  @Test("All conditions of a declaration have to hold")
  func allConditionsOfADeclarationHaveToHold() throws {
    for (profiles, isThere) in [("a", false), ("b", false), ("a,b", true)] {
      let environment = try makeEnvironment(profiles)
      try environment.define(environment.bean(Clock.self).profile("a").profile("b"))
      let clock = try environment.getBean(Clock?.self)
      #expect((clock != nil) == isThere)
    }
  }

  @Test("A child uses its own profiles, or else those of its parent")
  func aChildUsesItsOwnProfilesOrElseThoseOfItsParent() throws {
    let parent = try makeEnvironment("production")
    defer { try? parent.shutdown() }
    let (own, inherited) = (try makeEnvironment("test", parent: parent), try makeEnvironment(parent: parent))
    for child in [own, inherited] { try defineStores(in: child) }
    #expect(try own.getBean((any Store).self).name == "memory")
    #expect(try inherited.getBean((any Store).self).name == "disk")
  }

  @Test("Profiles that are no text are a fault of startup")
  func nonTextProfilesAreAFaultOfStartup() throws {
    try environment
      .define(environment.settings().setValue(key: "beans.profiles", value: Misfit()))
      .define(environment.bean(Clock.self).profile("test"))
    let fault = try requireFault { try environment.startup() }
    #expect(fault.code == .noConversion)
    #expect(fault.origin?.file.contains("ConditionSpecification") == true)
  }

  @Test("An inactive template passes nothing on")
  func anInactiveTemplatePassesNothingOn() throws {
    let environment = try makeEnvironment("test")
    try environment
      .define(environment.template("base").scope("prototype").profile("production"))
      .define(environment.template("base").lazy().profile("test"))
      .define(environment.bean(Clock.self, id: "clock", parent: "base"))
    #expect(environment.report().contains("profile") == false)
    try environment.startup()
    let line = try #require(environment.report().split(separator: "\n").first { $0.contains("\"clock\"") })
    #expect(line.contains("lazy: true") && !line.contains("prototype"))
  }

  @Test("Sources that are beans are not read for conditions")
  func sourcesThatAreBeansAreNotReadForConditions() throws {
    final class Source: ConfigurationSource, Initializable {
      let url = "bean"
      let canOverrule = true
      func load(_ manager: ConfigurationManager) throws {
        try manager.configurationAdded(ConfigurationItem(key: "beans.profiles", value: "test"), source: self)
      }
    }
    let environment = try makeEnvironment()
    try environment
      .define(environment.bean(Source.self))
      .define(environment.bean(Clock.self).profile("test"))
    #expect(try environment.getBean(Clock?.self) == nil)
    #expect(try environment.activeProfiles == ["test"])
  }
}

@Suite struct ConditionSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A condition reads the configuration once")
  func aConditionReadsTheConfigurationOnce() throws {
    let count = Guarded(0)
    try environment
      .define(environment.settings().setValue(key: "clock", value: "yes"))
      .define(
        environment.bean(Clock.self).when { configuration in
          count.withLock { $0 += 1 }
          return try configuration.getValue(String.self, key: "clock") == "yes"
        }
      )
      .define(environment.bean(Atlas.self).when { configuration in configuration.hasValue(key: "atlas") })
    #expect(try environment.getBean(Clock?.self) != nil)
    #expect(try environment.getBean(Atlas?.self) == nil)
    #expect(count.withLock { $0 } == 1)
  }

  @Test("Conditions that throw are faults of startup, all at once")
  func throwingConditionsAreFaultsOfStartupAllAtOnce() throws {
    try environment
      .define(environment.bean(Clock.self).when { _ in throw Misfit() })
      .define(environment.bean(Atlas.self).when { try $0.getValue(Bool.self, key: "atlas") })
    let fault = try requireFault { try environment.startup() }
    #expect(fault.code == .startupFailed)
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.map(\.code) == [.invalidDeclaration, .missingConfiguration])
    #expect(faults.first?.underlying.first is Misfit)
    #expect(faults.map { $0.path } == [["Clock"], ["Atlas"]])
  }

  @Test("An error of an inactive declaration is no fault")
  func anErrorOfAnInactiveDeclarationIsNoFault() throws {
    try environment
      .define(environment.bean(Ledger.self, factory: Ledger.init).when { _ in false })
      .define(environment.bean(Clock.self).property("nothing", value: 1).requires(id: "nowhere").profile("test"))
      .define(environment.bean(Clock.self, parent: "nowhere").profile("test"))
    try environment.startup()
  }

  @Test("A bean declared in place has no conditions of its own")
  func aBeanDeclaredInPlaceHasNoConditionsOfItsOwn() throws {
    final class Owner: Initializable { var clock: Clock? }
    try environment.define(
      environment.bean(Owner.self).property(\.clock, bean: environment.bean(Clock.self).profile("default")))
    #expect(try requireFault { try environment.startup() }.code == .invalidDeclaration)
  }
}

@Suite struct MissingBeanSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A type of another declaration is not missing")
  func aTypeOfAnotherDeclarationIsNotMissing() throws {
    try environment
      .define(environment.bean(MemoryStore.self, factory: { MemoryStore() }).whenMissing((any Store).self))
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
    #expect(try environment.getBean((any Store).self).name == "disk")
    #expect(try environment.getBeansByType((any Store).self).count == 1)
  }

  @Test("The first of several replaces a missing bean")
  func theFirstOfSeveralReplacesAMissingBean() throws {
    try environment
      .define(environment.bean(MemoryStore.self, factory: { MemoryStore() }).whenMissing((any Store).self))
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }).whenMissing((any Store).self))
    #expect(try environment.getBeansByType((any Store).self).map(\.name) == ["memory"])
  }

  @Test("Inactive declarations and templates are missing")
  func inactiveDeclarationsAndTemplatesAreMissing() throws {
    let environment = try makeEnvironment("test")
    try environment
      .define(environment.bean(Clock.self).whenMissing(Atlas.self))
      .define(environment.bean(Atlas.self).profile("production"))
      .define(environment.bean(Atlas.self, id: "template", abstract: true))
    #expect(try environment.getBean(Clock?.self) != nil)
  }

  @Test("Beans of templates, factory beans and embedded beans are not missing")
  func beansOfTemplatesFactoryBeansAndEmbeddedBeansAreNotMissing() throws {
    final class Owner: Initializable { var atlas: Atlas? }
    try environment
      .define(
        environment.bean(Ledger.self, id: "ledger", factory: { Ledger(store: DiskStore()) }).whenMissing(Clock.self)
      )
      .define(environment.bean(PumpFactory.self).target(Clock.self))
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }).whenMissing(Atlas.self))
      .define(environment.bean(Owner.self).property(\.atlas, bean: environment.bean(Atlas.self)))
      .define(environment.bean(MemoryStore.self, id: "base", abstract: true, factory: { MemoryStore() }))
      .define(environment.bean(parent: "base"))
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }).whenMissing(MemoryStore.self))
    #expect(try environment.getBean(Ledger?.self) == nil)
    #expect(try environment.getBean(DiskStore?.self) == nil)
  }

  @Test("A bean further out is not missing")
  func aBeanFurtherOutIsNotMissing() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(DiskStore.self, factory: { DiskStore() }))
    let requests = try parent.childFactory("request", seed: Clock.self) { request in
      try request
        .define(request.bean(MemoryStore.self, factory: { MemoryStore() }).whenMissing((any Store).self))
        .define(request.bean(Ledger.self, factory: Ledger.init).whenMissing(Clock.self))
        .define(request.bean(Atlas.self).whenMissing(Atlas.self))
    }
    let child = try Environment(name: "child", parent: parent)
    try child
      .define(child.bean(MemoryStore.self, factory: { MemoryStore() }).whenMissing((any Store).self))
      .define(child.bean(Clock.self).whenMissing(Clock.self))
    #expect(try child.getBean((any Store).self).name == "disk")
    #expect(try child.getBean(Clock?.self) != nil)
    let request = try requests.build(Clock())
    #expect(try request.getBean((any Store).self).name == "disk")
    #expect(try request.getBean(Ledger?.self) == nil)
    #expect(try request.getBean(Atlas?.self) != nil)
  }
}

@Suite struct ConditionalFactorySpecification {
  private func makeFactories(_ profiles: String) throws -> (Environment, [EnvironmentFactory<Int>]) {
    let environment = try makeEnvironment(profiles)
    let plain = try environment.childFactory("session", seed: Int.self, under: { $0.profile("plain") }) { session in
      try session.define(session.bean(Clock.self))
    }
    let rich = try environment.childFactory("session", seed: Int.self, under: { $0.profile("rich") }) { session in
      try session.define(session.bean(Atlas.self))
    }
    return (environment, [plain, rich])
  }

  @Test("The children of a factory may depend on a profile")
  func theChildrenOfAFactoryMayDependOnAProfile() throws {
    let (environment, factories) = try makeFactories("plain")
    defer { try? environment.shutdown() }
    try environment.startup()
    let child = try factories[0].build(1)
    #expect(try child.getBean(Clock?.self) != nil)
    let fault = try requireFault(message: "profile 'rich' is not active") { _ = try factories[1].build(2) }
    #expect(fault.code == .scopeNotActive)
    #expect(try requireFault { _ = try factories[1].build(2, in: environment) }.code == .scopeNotActive)
    let reason = "the children of 'session' are inactive: module Adhoc is: profile 'rich' is not active"
    #expect(environment.report().contains(reason))
  }

  @Test("Factories of inactive children are inactive")
  func factoriesOfInactiveChildrenAreInactive() throws {
    let environment = try makeEnvironment("test")
    defer { try? environment.shutdown() }
    let sessions = try environment.childFactory("session", seed: Int.self, under: { $0.when { _ in false } })
    let requests = try sessions.childFactory("request", seed: String.self)
    try environment.startup()
    #expect(try requireFault { _ = try requests.build("one") }.code == .scopeNotActive)
    #expect(try requireFault { _ = try requests.build("one", in: environment) }.message.contains("'session'"))
  }

  @Test("A factory may replace a missing one")
  func aFactoryMayReplaceAMissingOne() throws {
    for isThere in [false, true] {
      let environment = try makeEnvironment("test")
      defer { try? environment.shutdown() }
      if isThere { try environment.define(environment.bean(Clock.self)) }
      let factory = try environment.childFactory("session", seed: Int.self, under: { $0.whenMissing(Clock.self) })
      #expect((try? factory.build(1)) == nil ? isThere : !isThere)
    }
  }
}

@Suite struct InactiveReportSpecification {
  /// Returns the place of the line after the calling one.
  private func place(_ line: Int = #line) -> String { "ConditionSpecification.swift:\(line + 1)" }

  @Test("A report names inactive declarations in order with the reason")
  func aReportNamesInactiveDeclarationsInOrderWithTheReason() throws {
    let environment = try makeEnvironment("production")
    try environment
      .define(environment.bean(Clock.self, id: "first").profile("test", "development"))
      .define(environment.bean(Atlas.self, id: "second").profile("!production"))
      .define(environment.bean(Atlas.self, id: "third"))
      .define(environment.bean(Clock.self, id: "fourth").when("clocks are wanted") { _ in false })
      .define(environment.bean(Clock.self, id: "fifth").whenMissing(Atlas.self))
      .define(environment.bean(Clock.self, id: "sixth").when { _ in false })
    try environment.startup()
    let lines = environment.report().split(separator: "\n").filter { $0.hasPrefix("- ") }.map(String.init)
    #expect(lines.count == 6)
    #expect(lines[0] == "- Clock \"first\" inactive: profile 'test' is not active, profile 'development' is not active")
    #expect(lines[1] == "- Atlas \"second\" inactive: profile 'production' is active")
    #expect(lines[2] == "- Atlas \"third\"")
    #expect(lines[3] == "- Clock \"fourth\" inactive: condition not met: clocks are wanted")
    #expect(lines[4].hasPrefix("- Clock \"fifth\" inactive: a Atlas 'third' is declared at "))
    #expect(lines[5] == "- Clock \"sixth\" inactive: its condition does not hold")
  }

  @Test("Faults that a declaration would have prevented name it")
  func faultsThatADeclarationWouldHavePreventedNameIt() throws {
    final class Owner: Initializable { var clock: Clock? }
    let environment = try makeEnvironment("production")
    let place = place()
    let clock = environment.bean(Clock.self, id: "clock").profile("test")
    try environment
      .define(clock)
      .define(environment.bean(Owner.self, factory: { (_: Clock) in Owner() }))
      .define(environment.bean(Owner.self, factory: { (_: Provider<Clock>) in Owner() }))
      .define(environment.bean(Owner.self).property("clock", ref: "clock"))
      .define(environment.bean(Owner.self).property(\.clock, bean: clock))
      .define(environment.bean(Owner.self, parent: "clock"))
      .alias("hour", of: "clock")
    let fault = try requireFault { try environment.startup() }
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.count == 6)
    for fault in faults {
      #expect(fault.code == .unknownBean)
      #expect(fault.message.contains("a Clock 'clock' is declared at"), "\(fault)")
      #expect(fault.message.contains("\(place), but inactive: profile 'test' is not active"), "\(fault)")
    }
  }

  @Test("Lookups name inactive declarations")
  func lookupsNameInactiveDeclarations() throws {
    let environment = try makeEnvironment("production")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self, id: "clock").profile("test"))
    let hint = "but inactive: profile 'test' is not active"
    #expect(try requireFault { try environment.getBean(Clock.self) }.message.contains(hint))
    #expect(try requireFault { try environment.getBean(Clock.self, byId: "clock") }.message.contains(hint))
    let child = try Environment(name: "child", parent: environment)
    #expect(try requireFault { try child.getBean(Clock.self) }.message.contains(hint))
  }

  @Test("Declarations for inactive children are named, too")
  func declarationsForInactiveChildrenAreNamedToo() throws {
    let environment = try makeEnvironment("production")
    try environment.childFactory("session", seed: Int.self, under: { $0.profile("test") }) { session in
      try session.define(session.bean(Clock.self))
    }
    try environment.define(environment.bean(Atlas.self, factory: { (_: Provider<Clock>) in Atlas() }))
    let fault = try requireFault { try environment.startup() }
    #expect(fault.message.contains("the children of 'session' are: module Adhoc is: profile 'test' is not active"))
  }

  @Test("An unknown scope names the inactive scope")
  func anUnknownScopeNamesTheInactiveScope() throws {
    let environment = try makeEnvironment("production")
    try environment.childFactory("tenant", seed: Int.self, under: { $0.profile("test") })
    try environment.define(environment.bean(Clock.self).scope("tenant"))
    let fault = try requireFault { try environment.startup() }
    #expect(fault.code == .unknownScope)
    let reason = "the children of 'tenant' are inactive: module Adhoc is: profile 'test' is not active"
    #expect(fault.message.contains(reason))
  }

  @Test("An ambiguity names the inactive primary bean")
  func anAmbiguityNamesTheInactivePrimaryBean() throws {
    let environment = try makeEnvironment("production")
    try environment
      .define(environment.bean(Clock.self))
      .define(environment.bean(Clock.self))
      .define(environment.bean(Clock.self).primary().profile("test"))
    let fault = try requireFault { try environment.getBean(Clock.self) }
    #expect(fault.code == .ambiguousBean)
    #expect(fault.message.contains("but inactive: profile 'test' is not active"))
  }

  @Test("An unresolved placeholder names the inactive source")
  func anUnresolvedPlaceholderNamesTheInactiveSource() throws {
    final class Source: ConfigurationSource, Initializable {
      let url = "bean"
      let canOverrule = true
      func load(_ manager: ConfigurationManager) throws {}
    }
    final class Owner: Initializable { var name = "" }
    let environment = try makeEnvironment("production")
    try environment
      .define(environment.bean(Source.self).profile("test"))
      .define(environment.bean(Owner.self).property(\.name, resolve: "${name}"))
    let fault = try requireFault(message: "a Source is declared at") { try environment.startup() }
    #expect(fault.code == .unresolvedPlaceholder)
  }
}
