import Beans
import BeansTesting
import Testing

@Suite("The articles on practice, and on coming from other packages") struct PracticeGuideTests {
  @Test("Best practices: the declarations have no fault, and the private connection ends with the shop")
  func skeleton() throws {
    checkGraph { shop in try BestPractices().declareShop(in: shop) }
    let shop = try Environment(name: "shop")
    let requests = try BestPractices().declareShop(in: shop)
    try shop.startup(options: [.requireSendable])
    #expect(try BestPractices().serve(.init(name: "Ada"), "tea", requests) == 1)
    #expect(try BestPractices().serve(.init(name: "Ada"), "cake", requests) == 2)
    #expect(throws: EnvironmentError.self) { try shop.getBean(BestPractices.Connection.self) }
    let connection = try shop.getBean(BestPractices.StoredOrders.self).connection
    try shop.shutdown()
    #expect(connection.isClosed.withLock { $0 })
  }

  @Test("Best practices: a declaration by protocol is found by that protocol only")
  func declarationsByProtocol() throws {
    let service = try Environment(name: "service")
    defer { service.finish() }
    try service.define(
      service.bean(
        (any ComingFromFactory.Network).self,
        factory: { () -> any ComingFromFactory.Network in
          ComingFromFactory.HTTPNetwork()
        }))
    #expect(try service.getBean((any ComingFromFactory.Network).self).host == "example.org")
    #expect(try service.getBean(ComingFromFactory.HTTPNetwork?.self) == nil)
  }

  @Test("Coming from Factory: a session is a child")
  func factory() throws {
    #expect(try ComingFromFactory().findCatalogue().network.host == "example.org")
    let shop = try Environment(name: "shop")
    let sessions = try ComingFromFactory().declareSessions(in: shop)
    let (ada, grace) = (
      try ComingFromFactory().logIn(.init(name: "Ada"), sessions),
      try ComingFromFactory().logIn(.init(name: "Grace"), sessions)
    )
    #expect(try ada.getBean(ComingFromFactory.Cart.self).user.name == "Ada")
    ComingFromFactory().logOut(ada)
    #expect(throws: EnvironmentError.self) { try ada.getBean(ComingFromFactory.Cart.self) }
    #expect(try grace.getBean(ComingFromFactory.Cart.self).user.name == "Grace")
    ComingFromFactory().logOut(grace)
    try shop.shutdown()
  }

  @Test("Coming from swift-dependencies: a clock that the test moves, a user for each request")
  func swiftDependencies() async throws {
    let guide = ComingFromSwiftDependencies()
    let clock = ManualClock()
    try await withTestEnvironment(
      guide.declareForecast,
      overriding: { $0.override((any Clock<Duration>).self) { () -> any Clock<Duration> in clock } }
    ) { service in
      let forecast = try service.getBean(ComingFromSwiftDependencies.Forecast.self)
      async let text = forecast.tomorrow()
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(1))
      #expect(try await text == "rain")
    }
    let service = try Environment(name: "service")
    let requests = try guide.declareRequests(in: service)
    #expect(try await guide.respond(to: .init(name: "Ada"), requests) == "Hello, Ada!")
    try await service.shutdown()
  }
}
