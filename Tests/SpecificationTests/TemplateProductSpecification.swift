import Beans
import BeansInject
import Testing

/// Beans whose template brings the factory, and whose factory makes an object of a subclass.
@Suite("Products of inherited factories") struct TemplateProductSpecification {
  private let journal = Journal()

  private func environment(name: String = "application", scope: String? = nil) throws -> Environment {
    let (environment, journal) = (try Environment(name: name), journal)
    try environment.define(
      environment.bean(Special.self, id: "template", abstract: true, factory: { Special(journal) }))
    let heir = environment.bean(Base.self, id: "heir", parent: "template")
    if let scope { heir.scope(scope) }
    try environment.define(heir)
    return environment
  }

  @Test("A product of a subclass gets postConstruct and preDestroy, in a singleton and in a child")
  func callbacks() throws {
    let application = try environment()
    _ = try application.getBean(Base.self)
    #expect(journal.entries == ["constructed"])
    try application.shutdown()
    #expect(journal.entries == ["constructed", "destroyed"])

    let parent = try environment(scope: "request")
    let requests = try parent.childFactory("request", seed: Int.self)
    try requests.withChild(1) { _ = try $0.getBean(Base.self) }
    #expect(journal.entries == ["constructed", "destroyed", "constructed", "destroyed"])
    try parent.shutdown()
  }

  @Test("A product of a subclass gets its environment and the injections of its class")
  func injections() throws {
    let application = try environment()
    try application.define(application.bean(Part.self))
    let special = try #require(try application.getBean(Base.self) as? Special)
    #expect(special.environment === application)
    #expect(special.part === (try application.getBean(Part.self)))
    try application.shutdown()
  }

  @Test("A product of a subclass is completed and released in a user's scope, and as a prototype")
  func otherScopes() throws {
    let application = try environment(scope: "own")
    try application.registerScope(AbstractBeanScope(name: "own"))
    _ = try application.getBean(Base.self)
    try application.shutdown()
    #expect(journal.entries == ["constructed", "destroyed"])

    let other = try environment(scope: "prototype")
    _ = try other.getBean(Base.self)
    #expect(journal.entries == ["constructed", "destroyed", "constructed"])
    let owned = try other.getBean(Owned<Base>.self)
    try owned.release()
    #expect(journal.entries == ["constructed", "destroyed", "constructed", "constructed", "destroyed"])
    try other.shutdown()
  }

  @Test("A product of a subclass whose release is asynchronous is awaited")
  func asynchronousRelease() async throws {
    let (application, journal) = (try Environment(name: "application"), journal)
    try application.define(
      application.bean(Connection.self, id: "template", abstract: true, factory: { Connection(journal) }))
    try application.define(application.bean(Plain.self, id: "heir", parent: "template"))
    _ = try application.getBean(Plain.self)
    try await application.shutdown()
    #expect(journal.entries == ["closed"])
  }

  @Test("A factory bean of a subclass creates its products, and is completed and released")
  func factoryBeans() throws {
    let (application, journal) = (try Environment(name: "application"), journal)
    try application.define(
      application.bean(SpecialMaker.self, id: "template", abstract: true, factory: { SpecialMaker(journal) }))
    try application.define(application.bean(Maker.self, id: "heir", parent: "template").target(Part.self))
    _ = try application.getBean(Part.self)
    try application.shutdown()
    #expect(journal.entries == ["maker constructed", "maker destroyed"])
  }
}

private final class Part: Initializable { init() {} }

private class Base {}

private final class Special: Base, Bean, DisposableBean, EnvironmentAware {
  @Injected var part: Part?
  var environment: Environment?
  private let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  func postConstruct() { journal.note("constructed") }
  func preDestroy() { journal.note("destroyed") }
}

private class Plain {}

private final class Connection: Plain, AsyncDisposableBean {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() async throws { journal.note("closed") }
}

private class Maker: FactoryBean {
  func create() -> Part { Part() }
}

private final class SpecialMaker: Maker, Bean, DisposableBean {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func postConstruct() { journal.note("maker constructed") }
  func preDestroy() { journal.note("maker destroyed") }
}
