import Beans
import Testing

private final class Gateway: Sendable {
  let name: String
  init(_ name: String = "gateway") { self.name = name }
}

private final class Checkout: Sendable {
  let gateway: Gateway
  init(gateway: Gateway) { self.gateway = gateway }
}

private final class Accounts: Initializable, Sendable {}

private final class Later: Sendable {
  let gateway: Provider<Gateway>
  init(gateway: Provider<Gateway>) { self.gateway = gateway }
}

/// A module with a private gateway.
private struct Payments: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment
      .define(environment.bean(Gateway.self, id: "gateway", factory: { Gateway() }).private())
      .define(environment.bean(Checkout.self, factory: Checkout.init))
  }
}

private struct Banking: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment.include(Ledgers()).include(Payments())
  }
}

private struct Ledgers: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment.include(Banking()).define(environment.bean(Accounts.self))
  }
}

@Suite struct ModuleSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("Declarations of a module are made where it is included")
  func declarationsOfAModuleAreMadeWhereItIsIncluded() throws {
    try environment.include(Payments())
    #expect(try environment.getBean(Checkout.self).gateway.name == "gateway")
  }

  @Test("A module is included once, however often it is named")
  func aModuleIsIncludedOnceHoweverOftenItIsNamed() throws {
    try environment.include(Payments()).include(Banking()).include(Payments())
    #expect(try environment.getBeansByType(Checkout.self).count == 1)
    #expect(try environment.getBeansByType(Accounts.self).count == 1)
  }

  @Test("Modules may need each other")
  func modulesMayNeedEachOther() throws {
    try environment.include(Ledgers())
    #expect(try environment.getBeansByType(Accounts.self).count == 1)
    #expect(try environment.getBeansByType(Checkout.self).count == 1)
  }

  @Test("The children of a factory include modules of their own")
  func theChildrenOfAFactoryIncludeModulesOfTheirOwn() throws {
    let requests = try environment.childFactory("request", seed: Int.self) { try $0.include(Payments()) }
    let (one, two) = (try requests.build(1), try requests.build(2))
    #expect(try one.getBean(Checkout.self) !== two.getBean(Checkout.self))
    #expect(code { try environment.getBean(Checkout.self) } == .unknownBean)
  }

  @Test("An error of a module's declarations is thrown")
  func anErrorOfAModulesDeclarationsIsThrown() throws {
    #expect(throws: Boom.self) { try environment.include(Adhoc { _ in throw Boom() }) }
  }

  @Test("A module after startup is refused")
  func aModuleAfterStartupIsRefused() throws {
    try environment.startup()
    try requireFault(.frozen) { try environment.include(Payments()) }
  }

  @Test("Every error names the module")
  func everyErrorNamesTheModule() throws {
    try environment.include(
      Adhoc { environment in
        try environment
          .define(environment.bean(Checkout.self, factory: Checkout.init))
          .define(environment.bean(Accounts.self, id: "accounts"))
        _ = try environment.childFactory("request", seed: Int.self) { request in
          try request.define(request.bean(Checkout.self, id: "inner", factory: Checkout.init))
        }
      })
    try environment.define(environment.bean(Accounts.self, id: "accounts"))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.duplicateId, .unknownBean, .unknownBean])
    #expect(faults[0].message.hasSuffix("in module Adhoc"))
    #expect(faults[1].origin?.module == "Adhoc" && faults[2].origin?.module == "Adhoc")
    #expect(faults.allSatisfy { "\($0)".contains(" in module Adhoc") })
  }

  @Test("A report names the module with the origin")
  func aReportNamesTheModuleWithTheOrigin() throws {
    let environment = try Environment(name: "shop", traceOrigin: true).include(Payments())
    try environment.startup()
    defer { try? environment.shutdown() }
    let line = try #require(environment.report().split(separator: "\n").first { $0.contains("Checkout") })
    #expect(line.hasSuffix(" in module Payments"))
  }
}

@Suite struct PrivateBeanSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("Lookups outside a module do not find its private beans")
  func lookupsOutsideAModuleDoNotFindItsPrivateBeans() throws {
    try environment.include(Payments())
    let fault = try requireFault(.unknownBean) { try environment.getBean(Gateway.self) }
    #expect(fault.message.contains("in module Payments, and private there"))
    try requireFault(.unknownBean) { try environment.getBean(Gateway.self, byId: "gateway") }
    #expect(try environment.getBean(Gateway?.self) == nil)
    #expect(try environment.getBeansByType(Gateway.self).isEmpty)
    #expect(code { try environment.getBean(Provider<Gateway>.self).get() } == .unknownBean)
  }

  @Test("Parameters outside a module do not find its private beans")
  func parametersOutsideAModuleDoNotFindItsPrivateBeans() throws {
    try environment.include(Payments())
    try environment
      .define(environment.bean(Checkout.self, id: "other", factory: Checkout.init))
      .define(environment.bean(Accounts.self).requires(id: "gateway"))
      .define(environment.bean(Later.self, factory: Later.init))
    #expect(try startupFaults(of: environment).map(\.code) == [.unknownBean, .unknownBean, .unknownBean])
  }

  @Test("Types and ids of private beans are free outside")
  func typesAndIdsOfPrivateBeansAreFreeOutside() throws {
    try environment.include(Payments())
    try environment.define(environment.bean(Gateway.self, id: "gateway", factory: { Gateway("public") }))
    #expect(try environment.getBean(Gateway.self).name == "public")
    #expect(try environment.getBean(Gateway.self, byId: "gateway").name == "public")
    #expect(try environment.getBeansByType(Gateway.self).map(\.name) == ["public"])
  }

  @Test("A module finds its private beans in every way")
  func aModuleFindsItsPrivateBeansInEveryWay() throws {
    final class All: Sendable {
      let gateways: [Gateway]
      let maybe: Gateway?
      let byId: Gateway
      init(gateways: [Gateway], maybe: Gateway?, byId: Gateway) {
        (self.gateways, self.maybe, self.byId) = (gateways, maybe, byId)
      }
    }
    try environment.include(
      Adhoc { environment in
        try environment
          .define(environment.bean(Gateway.self, id: "g", factory: { Gateway("private") }).private())
          .define(environment.bean(Later.self, factory: Later.init))
          .define(environment.bean(All.self, factory: All.init).argument(2, ref: "g").requires(Gateway.self))
          .define(environment.decorate(Gateway.self) { (inner: Gateway) in Gateway("decorated \(inner.name)") })
      })
    let all = try environment.getBean(All.self)
    #expect(all.gateways.map(\.name) == ["decorated private"])
    #expect(all.maybe === all.gateways[0] && all.byId === all.gateways[0])
    #expect(try environment.getBean(Later.self).gateway.get() === all.byId)
  }

  @Test("A module finds its private beans in the children of a factory, too")
  func aModuleFindsItsPrivateBeansInTheChildrenOfAFactoryToo() throws {
    var factory: EnvironmentFactory<Int>?
    try environment.include(
      Adhoc { environment in
        try environment.define(environment.bean(Gateway.self, id: "g", factory: { Gateway("private") }).private())
        factory = try environment.childFactory("request", seed: Int.self) { request in
          try request
            .define(request.bean(Checkout.self, factory: Checkout.init))
            .define(request.bean(Later.self, factory: Later.init))
        }
      })
    let request = try #require(factory).build(1)
    #expect(try request.getBean(Checkout.self).gateway.name == "private")
    #expect(try request.getBean(Later.self).gateway.get().name == "private")
    #expect(code { try request.getBean(Gateway.self) } == .unknownBean)
  }

  @Test("A template may be private")
  func aTemplateMayBePrivate() throws {
    try environment.include(
      Adhoc { environment in
        try environment
          .define(environment.template("base").lazy().private())
          .define(environment.bean(Accounts.self, id: "accounts", parent: "base"))
      })
    try environment.define(environment.template("base").scope("prototype"))
    try environment.startup()
    #expect(environment.report().contains("Accounts \"accounts\" lazy: true\n"))
  }

  @Test("Private beans are built, processed and released like any other")
  func privateBeansAreBuiltProcessedAndReleasedLikeAnyOther() throws {
    let released = Guarded(0)
    try environment.include(
      Adhoc { environment in
        try environment.define(
          environment.bean(Gateway.self, factory: { Gateway() }).private().onDestroy { _ in
            released.withLock { $0 += 1 }
          })
      })
    try environment.startup()
    try environment.shutdown()
    #expect(released.withLock { $0 } == 1)
  }

  @Test("An id is unique in a module, too")
  func anIdIsUniqueInAModuleToo() throws {
    try environment.include(
      Adhoc { environment in
        try environment
          .define(environment.bean(Accounts.self, id: "accounts").private())
          .define(environment.bean(Gateway.self, id: "accounts", factory: { Gateway() }).private())
      })
    let fault = try requireFault(.duplicateId, path: ["'accounts'"]) { try environment.startup() }
    #expect(fault.message.hasPrefix("the id 'accounts' is taken by "))
  }

  @Test("Only a module has private beans")
  func onlyAModuleHasPrivateBeans() throws {
    try environment.define(environment.bean(Accounts.self).private())
    try requireFault(.invalidDeclaration) { try environment.startup() }
  }
}

@Suite struct ConditionalModuleSpecification {
  private func makeEnvironment(_ profiles: String = "test") throws -> Environment {
    let environment = try Environment(name: "shop")
    return try environment.define(environment.settings().setValue(key: "beans.profiles", value: profiles))
  }

  @Test("A condition of a module applies to all its declarations")
  func aConditionOfAModuleAppliesToAllItsDeclarations() throws {
    let environment = try makeEnvironment().include(Payments().profile("production"))
    defer { try? environment.shutdown() }
    let fault = try requireFault(.unknownBean) { try environment.getBean(Checkout.self) }
    #expect(fault.message.contains("but inactive: module Payments is: profile 'production' is not active"))
  }

  @Test("A module is active if the conditions of one inclusion hold")
  func aModuleIsActiveIfTheConditionsOfOneInclusionHold() throws {
    for modules in [[Payments().profile("production"), Payments().profile("test")], [Payments().profile("test")]] {
      let environment = try makeEnvironment()
      defer { try? environment.shutdown() }
      for module in modules { try environment.include(module) }
      #expect(try environment.getBean(Checkout?.self) != nil)
    }
  }

  @Test("Included modules are active with their module")
  func includedModulesAreActiveWithTheirModule() throws {
    let environment = try makeEnvironment().include(Banking().when { _ in false })
    defer { try? environment.shutdown() }
    #expect(try environment.getBean(Checkout?.self) == nil)
    #expect(try environment.getBean(Accounts?.self) == nil)
    let other = try makeEnvironment().include(Banking().when { _ in false }).include(Ledgers())
    defer { try? other.shutdown() }
    #expect(try other.getBean(Accounts?.self) != nil)
    #expect(try other.getBean(Checkout?.self) != nil)
  }

  @Test("Several conditions have to hold together")
  func severalConditionsHaveToHoldTogether() throws {
    let environment = try makeEnvironment().include(Payments().profile("test").when { _ in false })
    defer { try? environment.shutdown() }
    #expect(try environment.getBean(Checkout?.self) == nil)
  }

  @Test("A module may replace missing declarations")
  func aModuleMayReplaceMissingDeclarations() throws {
    let alone = try makeEnvironment().include(Payments().whenMissing(Checkout.self))
    defer { try? alone.shutdown() }
    #expect(try alone.getBean(Checkout.self).gateway.name == "gateway")
    let other = try makeEnvironment().include(Payments().whenMissing(Checkout.self))
    defer { try? other.shutdown() }
    try other.define(other.bean(Checkout.self, factory: { Checkout(gateway: Gateway("other")) }))
    #expect(try other.getBean(Checkout.self).gateway.name == "other")
  }

  @Test("The factories of an inactive module are inactive")
  func theFactoriesOfAnInactiveModuleAreInactive() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    var factory: EnvironmentFactory<Int>?
    try environment.include(Adhoc { factory = try $0.childFactory("request", seed: Int.self) }.profile("production"))
    let requests = try #require(factory)
    try requireFault(.scopeNotActive) { _ = try requests.build(1) }
  }
}
