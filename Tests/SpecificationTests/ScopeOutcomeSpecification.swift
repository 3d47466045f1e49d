import Beans
import Testing

@Suite("The outcome of a scope, for its beans", .timeLimit(.minutes(20))) struct ScopeOutcomeSpecification {
  private let journal = Journal()

  private func shop() throws -> (
    shop: Environment, sessions: EnvironmentFactory<Int>, requests: EnvironmentFactory<Int>
  ) {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    let sessions = try shop.childFactory("session", seed: Int.self) { session in
      try session.define(Self.bean("basket", in: session, journal))
    }
    let requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(Self.bean("transaction", in: request, journal))
    }
    try shop.define(Self.bean("pool", in: shop, journal))
    return (try shop.startup(), sessions, requests)
  }

  private static func bean(_ id: String, in environment: Environment, _ journal: Journal) -> BeanDeclaration {
    environment.bean(Part.self, id: id, factory: { Part() })
      .onDestroy { _, outcome in
        switch outcome {
        case .completed: journal.note("\(id): completed")
        case .failed(is Boom): journal.note("\(id): failed")
        case .failed(let error): journal.note("\(id): \(error)")
        }
      }
  }

  @Test("Beans distinguish a child that completes from one whose body throws")
  func withChild() throws {
    let (shop, sessions, _) = try shop()
    try sessions.withChild(1) { _ = try $0.getBean(Part.self, byId: "basket") }
    #expect(throws: Boom.self) {
      try sessions.withChild(2) {
        _ = try $0.getBean(Part.self, byId: "basket")
        throw Boom()
      }
    }
    #expect(journal.entries == ["basket: completed", "basket: failed"])
    try shop.shutdown()
    #expect(journal.entries.last == "pool: completed")
  }

  @Test("An asynchronous body that throws is the outcome of its child")
  func withChildAsynchronously() async throws {
    let (shop, sessions, _) = try shop()
    await #expect(throws: Boom.self) {
      try await sessions.withChild(1) {
        _ = try $0.getBean(Part.self, byId: "basket")
        await Task.yield()
        throw Boom()
      }
    }
    try await sessions.withChild(2) {
      await Task.yield()
      _ = try $0.getBean(Part.self, byId: "basket")
    }
    #expect(journal.entries == ["basket: failed", "basket: completed"])
    try await shop.shutdown()
  }

  @Test("finish(failing:) is the outcome of the environment and of the children that it ends")
  func byHand() throws {
    let (shop, sessions, requests) = try shop()
    let session = try sessions.build(1)
    _ = try session.getBean(Part.self, byId: "basket")
    let request = try requests.build(1, in: session)
    _ = try request.getBean(Part.self, byId: "transaction")
    session.finish(failing: Boom())
    #expect(journal.entries == ["transaction: failed", "basket: failed"])
    try shop.shutdown()
    #expect(journal.entries.last == "pool: completed")
  }

  @Test("The first end of an environment decides its outcome; in a body, the first failure")
  func firstEnd() throws {
    let (shop, sessions, requests) = try shop()
    let session = try sessions.build(1)
    _ = try session.getBean(Part.self, byId: "basket")
    try requests.withChild(1, in: session) { request in
      _ = try request.getBean(Part.self, byId: "transaction")
      request.finish()
      request.finish(failing: Boom())
    }
    session.finish()
    session.finish(failing: Boom())
    #expect(journal.entries == ["transaction: failed", "basket: completed"])
    try shop.shutdown()
  }

  @Test("A startup that fails is the outcome of the beans that it has built")
  func failedStartup() throws {
    let environment = try Environment(name: "shop")
    try environment.define(Self.bean("pool", in: environment, journal))
    try environment.define(environment.bean(Broken.self, factory: { () throws -> Broken in throw Boom() }))
    try requireFault(.creationFailed) { try environment.startup() }
    #expect(journal.entries.count == 1)
    #expect(journal.entries.first?.contains("creationFailed") == true, "\(journal.entries)")
  }

  @Test("Callbacks with an outcome and others run in the order in which they are declared")
  func order() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment.define(
      environment.bean(Part.self, factory: { Part() })
        .onDestroy { _ in journal.note("first") }
        .onDestroy { _, _ in journal.note("second") }
        .onDestroy { _ in journal.note("third") })
    try environment.startup().shutdown()
    #expect(journal.entries == ["first", "second", "third"])
  }
}

private final class Part: Sendable {}
private final class Broken: Sendable {}
