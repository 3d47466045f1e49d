import Beans
import Testing

private final class Cart { var lines: [String] = [] }
private final class Catalogue: Sendable {}
private struct Prices { let list = Cart() }

private final class Rack {
  var catalogue: Catalogue?
  var cart: Cart?
  init(catalogue: Catalogue? = nil) { self.catalogue = catalogue }
}

@Suite struct SendabilitySpecification {
  @FreshEnvironment("shop", traceOrigin: true) private var environment

  @Test("Shared beans must be known to be Sendable")
  func sharedBeansMustBeKnownToBeSendable() throws {
    try environment
      .define(environment.bean(Catalogue.self, factory: { Catalogue() }))
      .define(environment.bean(7))
      .define(environment.bean(Cart.self, id: "cart", factory: { Cart() }))
    let line = #line - 1
    let fault = try requireFault(.invalidDeclaration) { try environment.startup(options: [.requireSendable]) }
    #expect(fault.message.contains("Cart") && fault.message.contains("Sendable"))
    #expect(fault.origin?.line == line)
    try requireFault(.invalidDeclaration) { try environment.getBean(Int.self) }
  }

  @Test("The types of embedded beans are known")
  func theTypesOfEmbeddedBeansAreKnown() throws {
    func catalogue() -> TypedBeanDeclaration<Catalogue> {
      environment.bean(Catalogue.self, factory: { Catalogue() }).qualifier(Rack.self)
    }
    try environment
      .define(
        environment.bean(Rack.self, id: "path", factory: { Rack() }).property(\.catalogue, bean: catalogue())
          .confined(to: "the main loop")
      )
      .define(
        environment.bean(Rack.self, id: "name", factory: { Rack() }).property("catalogue", bean: catalogue())
          .confined(to: "the main loop")
      )
      .define(
        environment.bean(Rack.self, id: "parameter") { (catalogue: Catalogue) in Rack(catalogue: catalogue) }
          .argument(0, bean: catalogue()).confined(to: "the main loop"))
    try environment.startup(options: [.requireSendable])
    #expect(try environment.getBean(Rack.self, byId: "parameter").catalogue != nil)
  }

  @Test("The declaration that uses a bean makes its type known")
  func theDeclarationThatUsesABeanMakesItsTypeKnown() throws {
    let catalogue = environment.bean(Catalogue.self, factory: { Catalogue() })
    try environment
      .define(catalogue as BeanDeclaration)
      .define(
        environment.bean(Rack.self) { (catalogue: Catalogue) in Rack(catalogue: catalogue) }
          .argument(0, bean: catalogue).confined(to: "the main loop"))
    try environment.startup(options: [.requireSendable])
    #expect(try environment.getBean(Rack.self).catalogue != nil)
  }

  @Test("Embedded beans must be known to be Sendable")
  func embeddedBeansMustBeKnownToBeSendable() throws {
    func cart() -> BeanDeclaration { environment.bean(Cart.self, factory: { Cart() }) }
    try environment
      .define(
        environment.bean(Rack.self, id: "path", factory: { Rack() })
          .property(\.cart, bean: environment.bean(Cart.self, factory: { Cart() })).confined(to: "the main loop")
      )
      .define(
        environment.bean(Rack.self, id: "erased", factory: { Rack() }).property("cart", bean: cart())
          .confined(to: "the main loop"))
    let fault = try requireFault(.startupFailed) { try environment.startup(options: [.requireSendable]) }
    #expect(fault.underlying.count == 2)
  }

  @Test("All faults are reported at once")
  func allFaultsAreReportedAtOnce() throws {
    try environment
      .define(environment.bean(Cart.self, factory: { Cart() }))
      .define(environment.bean(Prices.self, factory: { Prices() }))
      .define(environment.bean(Catalogue.self, factory: { (_: String) in Catalogue() }))
    let fault = try requireFault(.startupFailed) { try environment.startup(options: [.requireSendable]) }
    #expect(fault.underlying.count == 3)
  }

  @Test("A report names beans that are not known to be Sendable")
  func aReportNamesBeansThatAreNotKnownToBeSendable() throws {
    try environment
      .define(environment.bean(Catalogue.self, factory: { Catalogue() }))
      .define(environment.bean(Cart.self, factory: { Cart() }))
    let line = #line - 1
    let report = try environment.startup().report()
    let shared = try #require(report.components("not known to be Sendable:"))
    #expect(shared.contains("Cart") && shared.contains("SendabilitySpecification.swift:\(line)"))
    #expect(!shared.contains("Catalogue"))
  }

  @Test("The place is reported, whether origins are traced or not")
  func thePlaceIsReportedWhetherOriginsAreTracedOrNot() throws {
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Cart.self, factory: { Cart() }))
    let line = #line - 1
    let shared = try #require(environment.startup().report().components("not known to be Sendable:"))
    #expect(shared.contains("Cart") && shared.contains("SendabilitySpecification.swift:\(line)"))
  }

  @Test("A report without unknown types has no section")
  func aReportWithoutUnknownTypesHasNoSection() throws {
    try environment.define(environment.bean(Catalogue.self, factory: { Catalogue() }))
    #expect(try !environment.startup(options: [.requireSendable]).report().contains("Sendable"))
  }

  @Test("Beans of requests and prototypes need not be Sendable")
  func beansOfRequestsAndPrototypesNeedNotBeSendable() throws {
    try environment
      .define(environment.bean(Cart.self, factory: { Cart() }).scope("prototype"))
      .define(environment.bean(Prices.self, factory: { Prices() }).scope("request"))
    _ = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Cart.self, id: "own", factory: { Cart() }))
    }
    try environment.startup(options: [.requireSendable])
  }

  @Test("Beans of sessions are shared")
  func beansOfSessionsAreShared() throws {
    let sessions = try environment.childFactory("visit", seed: String.self) { visit in
      try visit.define(visit.bean(Cart.self, factory: { Cart() }))
    }
    _ = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Prices.self, factory: { Prices() }))
    }
    let fault = try requireFault(.invalidDeclaration) { try environment.startup(options: [.requireSendable]) }
    #expect(fault.message.contains("Cart (visit)"))
  }

  @Test("Beans of a factory without an inner one are shared")
  func beansOfAFactoryWithoutAnInnerOneAreShared() throws {
    _ = try environment.childFactory("tenant", seed: String.self) { tenant in
      try tenant.define(tenant.bean(Cart.self, factory: { Cart() }))
    }
    let fault = try requireFault(.invalidDeclaration) { try environment.startup(options: [.requireSendable]) }
    #expect(fault.message.contains("Cart (tenant)"))
  }

  @Test("Seeds of sessions and tenants are shared")
  func seedsOfSessionsAndTenantsAreShared() throws {
    let sessions = try environment.childFactory("session", seed: Cart.self)
    let line = #line - 1
    _ = try sessions.childFactory("step", seed: Cart.self) { _ in }
    _ = try environment.childFactory("tenant", seed: Prices.self) { _ in }
    let fault = try requireFault(.startupFailed) { try environment.startup(options: [.requireSendable]) }
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.map(\.code) == [.invalidDeclaration, .invalidDeclaration, .invalidDeclaration])
    #expect(Set(faults.compactMap(\.origin?.line)) == [line, line + 2, line + 3])
    #expect(fault.message.contains("seed Cart (session)") || "\(fault)".contains("seed Cart (session)"))
  }

  @Test("Sendable seeds and seeds of requests need no declaration")
  func sendableSeedsAndSeedsOfRequestsNeedNoDeclaration() throws {
    let sessions = try environment.childFactory("session", seed: String.self) { _ in }
    _ = try sessions.childFactory("request", seed: Cart.self)
    _ = try environment.childFactory("tenant", seed: Catalogue.self)
    _ = try environment.childFactory("visit", seed: Void.self)
    #expect(try !environment.startup(options: [.requireSendable]).report().contains("Sendable"))
  }

  @Test("A declaration may give a reason for unchecked sharing")
  func aDeclarationMayGiveAReasonForUncheckedSharing() throws {
    try environment
      .define(environment.bean(Cart.self, factory: { Cart() }).confined(to: "the main loop"))
      .define(environment.bean(Prices.self, factory: { Prices() }).assumeSendable("it is read only"))
    let report = try environment.startup(options: [.requireSendable]).report()
    #expect(report.contains("Cart confined to: the main loop"))
    #expect(report.contains("Prices assumed to be Sendable: it is read only"))
    #expect(!report.contains("not known to be Sendable"))
  }

  @Test("A template may give the reason")
  func aTemplateMayGiveTheReason() throws {
    try environment
      .define(
        environment.bean(Cart.self, id: "cart", abstract: true, factory: { Cart() }).confined(to: "the main loop")
      )
      .define(environment.bean(parent: "cart", id: "one"))
      .define(environment.bean(parent: "cart", id: "two").assumeSendable("it is read only"))
    let report = try environment.startup(options: [.requireSendable]).report()
    #expect(report.contains("\"one\" confined to: the main loop"))
    #expect(report.contains("\"two\" assumed to be Sendable: it is read only"))
  }

  @Test("A started environment is checked and stays usable")
  func aStartedEnvironmentIsCheckedAndStaysUsable() throws {
    try environment.define(environment.bean(Cart.self, factory: { Cart() })).startup()
    try requireFault(.invalidDeclaration) { try environment.startup(options: [.requireSendable]) }
    #expect(try environment.getBean(Cart.self).lines.isEmpty)
  }

  @Test("ready() checks sendability, too")
  func readyChecksSendabilityToo() async throws {
    try environment
      .define(environment.bean(Cart.self, factory: { Cart() }))
      .define(environment.bean(Catalogue.self, async: { Catalogue() }))
    await #expect(throws: EnvironmentError.self) { try await environment.ready(options: [.requireSendable]) }
  }

  @Test("Templates, decorators, products and factories are known")
  func templatesDecoratorsProductsAndFactoriesAreKnown() throws {
    final class Maker: FactoryBean, Sendable {
      func create() -> Catalogue { Catalogue() }
    }
    struct Tag: AssistedFactory {
      typealias Element = Cart
      typealias Seed = Int
    }
    try environment
      .define(environment.bean(Catalogue.self, id: "template", abstract: true, factory: { Catalogue() }))
      .define(environment.bean(parent: "template", id: "one"))
      .define(environment.decorate(Catalogue.self) { (inner: Catalogue) in inner })
      .define(environment.bean(Maker.self, id: "two", factory: { Maker() }).target(Catalogue.self))
      .define(environment.bindFactory(Cart.self).with(Tag.self).to { (_: Assisted<Int>) in Cart() })
    try environment.startup(options: [.requireSendable])
  }
}

extension String {
  /// Returns the rest of the report after a text.
  fileprivate func components(_ text: String) -> String? {
    let parts = split(separator: text, maxSplits: 1)
    return parts.count == 2 ? String(parts[1]) : nil
  }
}
