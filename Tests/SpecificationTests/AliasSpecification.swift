import Beans
import Testing

private final class Pump: Initializable {
  var name = "pump"
}

private final class Engine {
  let pump: Pump
  init(pump: Pump) { self.pump = pump }
}

private final class PumpFactory: Initializable, FactoryBean {
  func create() throws -> Pump { Pump() }
}

@Suite struct AliasSpecification {
  @FreshEnvironment("aliases") private var environment

  @Test("An alias is accepted wherever an id is")
  func anAliasIsAcceptedWhereverAnIdIs() throws {
    try environment
      .alias("main", of: "primary")
      .alias("primary", of: "one")
      .define(environment.bean(Engine.self, factory: Engine.init).argument(0, ref: "main").requires(id: "primary"))
      .define(environment.bean(Pump.self, id: "one"))
      .define(environment.bean(Pump.self, id: "two"))
    let one = try environment.getBean(Pump.self, byId: "one")
    #expect(try environment.getBean(Pump.self, byId: "main") === one)
    #expect(try environment.getBean(Pump.self, byId: "primary") === one)
    #expect(try environment.getBean(Engine.self).pump === one)
    #expect(try environment.getBeansByType(Pump.self).count == 2)
  }

  @Test("An alias may name a template")
  func anAliasMayNameATemplate() throws {
    try environment
      .define(environment.bean(Pump.self, id: "template", abstract: true).property("name", value: "set"))
      .alias("base", of: "template")
      .define(environment.bean(parent: "base", id: "pump"))
    #expect(try environment.getBean(Pump.self, byId: "pump").name == "set")
    #expect(try requireFault { try environment.getBean(Pump.self, byId: "base") }.code == .unknownBean)
  }

  @Test("An alias of a factory bean returns the product")
  func anAliasOfAFactoryBeanReturnsTheProduct() throws {
    try environment
      .define(environment.bean(PumpFactory.self, id: "factory").target(Pump.self))
      .alias("other", of: "factory")
    let product = try environment.getBean(Pump.self)
    #expect(try environment.getBean(Pump.self, byId: "other") === product)
    let factory = try environment.getBean(PumpFactory.self, byId: "&factory")
    #expect(try environment.getBean(PumpFactory.self, byId: "&other") === factory)
  }

  @Test("A child's alias names outer beans and hides outer ids")
  func aChildsAliasNamesOuterBeansAndHidesOuterIds() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent
      .define(parent.bean(Pump.self, id: "one"))
      .define(parent.bean(Pump.self, id: "two"))
      .alias("outer", of: "one")
    let child = try Environment(name: "child", parent: parent).alias("two", of: "outer")
    let one = try parent.getBean(Pump.self, byId: "one")
    #expect(try child.getBean(Pump.self, byId: "outer") === one)
    #expect(try child.getBean(Pump.self, byId: "two") === one)
    #expect(try parent.getBean(Pump.self, byId: "two") !== one)
    #expect(try requireFault { try parent.getBean(Pump.self, byId: "inner") }.code == .unknownBean)
  }

  @Test("Children of a factory may have aliases")
  func childrenOfAFactoryMayHaveAliases() throws {
    try environment.define(environment.bean(Pump.self, id: "shared"))
    let factory = try environment.childFactory("request", seed: Int.self) { child in
      try child.alias("mine", of: "shared").alias("own", of: "local")
      try child.define(child.bean(Pump.self, id: "local"))
    }
    try factory.withChild(1) { child in
      let shared = try environment.getBean(Pump.self, byId: "shared")
      #expect(try child.getBean(Pump.self, byId: "mine") === shared)
      #expect(try child.getBean(Pump.self, byId: "own") !== shared)
    }
  }

  @Test("All faults of aliases are reported at startup")
  func allFaultsOfAliasesAreReportedAtStartup() throws {
    try environment
      .define(environment.bean(Pump.self, id: "one"))
      .alias("nothing", of: "on")
      .alias("one", of: "one")
      .alias("a", of: "b").alias("b", of: "a")
      .alias("own", of: "own")
      .alias("twice", of: "one").alias("twice", of: "one")
    let faults = try startupFaults(of: environment)
    // A circle is one fault, at whichever of its aliases the search begins.
    #expect(
      faults.map { "\($0.code)" }.sorted()
        == ["cyclicDependency", "cyclicDependency", "duplicateId", "duplicateId", "unknownBean"])
    #expect(faults.contains { $0.message.contains("'a' → 'b' → 'a'") })
    #expect(faults.contains { $0.message.contains("'own' → 'own'") })
    #expect(faults.allSatisfy { $0.origin?.file.hasSuffix("AliasSpecification.swift") == true })
  }

  @Test("A started environment accepts no alias")
  func aStartedEnvironmentAcceptsNoAlias() throws {
    let environment = try Environment(name: "aliases").startup()
    #expect(try requireFault { try environment.alias("a", of: "b") }.code == .frozen)
  }
}
