import Beans
import Testing

/// A factory of children is a bean of the environment that declares it.
@Suite("Factories of children as beans", .timeLimit(.minutes(20))) struct RegisteredFactorySpecification {
  @FreshEnvironment("shop") private var shop

  @Test("A bean takes the factory by its seed, without a declaration of its own")
  func parameter() throws {
    try shop.childFactory("request", seed: Visit.self) { try $0.define(Page.self, factory: Page.init) }
    try shop.childFactory("job", seed: Job.self)
    try shop.define(Handler.self, factory: Handler.init)
    try shop.startup()
    let handler = try shop.getBean(Handler.self)
    #expect(try handler.requests.withChild(Visit(number: 7)) { try $0.getBean(Page.self).number } == 7)
    #expect(try shop.getBean(EnvironmentFactory<Visit>.self) === handler.requests)
    try shop.shutdown()
  }

  @Test("Two factories of one seed are ambiguous for a bean that takes one")
  func ambiguous() throws {
    try shop.childFactory("request", seed: Visit.self, file: "Shop.swift", line: 1)
    try shop.childFactory("preview", seed: Visit.self, file: "Shop.swift", line: 2)
    try shop.define(Handler.self, factory: Handler.init)
    let fault = try requireFault(.ambiguousBean) { try shop.startup() }
    #expect("\(fault)".contains("Shop.swift:1") && "\(fault)".contains("Shop.swift:2"), "\(fault)")

    let quiet = try Environment(name: "quiet")
    try quiet.childFactory("request", seed: Visit.self)
    try quiet.childFactory("preview", seed: Visit.self)
    try quiet.startup()
    try quiet.shutdown()
  }

  @Test("A factory that the user defines as well is one bean, with the user's options")
  func definedAsWell() throws {
    let requests = try shop.childFactory("request", seed: Visit.self)
    let previews = try shop.childFactory("preview", seed: Visit.self)
    try shop.define(instance: requests) { $0.id("requests") }
    try shop.define(instance: previews) { $0.id("previews") }
    try shop.startup()
    #expect(try shop.getBeansByType(EnvironmentFactory<Visit>.self).count == 2)
    #expect(try shop.getBean(EnvironmentFactory<Visit>.self, byId: "requests") === requests)
    try shop.shutdown()
  }

  @Test("A nested factory is a bean of each child of the outer factory")
  func nested() throws {
    let sessions = try shop.childFactory("session", seed: Job.self) { session in
      try session.childFactory("request", seed: Visit.self)
      try session.define(Handler.self, factory: Handler.init)
    }
    try shop.startup()
    #expect(throws: EnvironmentError.self) { try shop.getBean(EnvironmentFactory<Visit>.self) }
    try sessions.withChild(Job()) { session in
      let handler = try session.getBean(Handler.self)
      let parent = try handler.requests.withChild(Visit(number: 3)) { $0.parent }
      #expect(parent === session)
    }
    try shop.shutdown()
    #expect(shop.statistics().allSatisfy { $0.opened == $0.finished && $0.created == $0.released })
  }

  @Test("A factory of a module, and one without a seed, are beans")
  func moduleAndVoid() throws {
    struct Requests: BeanModule {
      func configure(_ environment: Environment) throws { try environment.childFactory("request", seed: Void.self) }
    }
    try shop.include(Requests())
    try shop.startup()
    try shop.getBean(EnvironmentFactory<Void>.self).withChild { #expect($0.name == "request") }
    try shop.shutdown()
  }

  @Test("An environment with a factory and its taker is deallocated after its end")
  func retention() throws {
    weak var factory: EnvironmentFactory<Visit>?
    weak var dropped: Environment?
    do {
      let shop = try Environment(name: "shop")
      try shop.childFactory("request", seed: Visit.self)
      try shop.define(Handler.self, factory: Handler.init).startup()
      factory = try shop.getBean(Handler.self).requests
      #expect(factory != nil)
      try shop.shutdown()
      dropped = shop
    }
    #expect(dropped == nil)
    #expect(factory == nil)
  }

  @Test(
    "Opening a child by the factory of an environment that has been deallocated is impossible: the factory retains it")
  func escapedFactory() throws {
    func make() throws -> EnvironmentFactory<Visit> {
      let shop = try Environment(name: "shop")
      try shop.childFactory("request", seed: Visit.self)
      try shop.startup()
      return try shop.getBean(EnvironmentFactory<Visit>.self)
    }
    #expect(try make().withChild(Visit(number: 1)) { try $0.getBean(Visit.self).number } == 1)
    try make().build(Visit(number: 2)).finish()
  }
}

private struct Visit: Sendable { let number: Int }
private struct Job: Sendable {}

private final class Page: Sendable {
  let number: Int
  init(visit: Visit) { number = visit.number }
}

private final class Handler: Sendable {
  let requests: EnvironmentFactory<Visit>
  init(requests: EnvironmentFactory<Visit>) { self.requests = requests }
}
