import Beans
import Testing

@Suite("Owners of objects", .timeLimit(.minutes(20))) struct OwnershipSpecification {
  private let journal = Journal()

  // MARK: externally owned

  @Test("An externally owned bean is wired and completed, and never released by the container")
  func externallyOwned() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    let handed = Pool("handed", journal)
    try environment
      .define(
        environment.bean(handed, id: "handed").externallyOwned().onDestroy { _ in journal.note("callback") }
      )
      .define(environment.bean(Pool.self, id: "made", factory: { Pool("made", journal) }).externallyOwned())
      .define(
        environment.bean(Pool.self, id: "scoped", factory: { Pool("scoped", journal) }).scope("own").externallyOwned())
    try environment.registerScope(AbstractBeanScope(name: "own"))
    try environment.startup()
    _ = try environment.getBean(Pool.self, byId: "scoped")
    try environment.shutdown()
    #expect(journal.entries == ["handed begins", "made begins", "scoped begins"])
  }

  @Test("A child's externally owned bean outlives the child")
  func externallyOwnedInAChild() async throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request
        .define(request.bean(Pool.self, factory: { Pool("pool", journal) }).externallyOwned())
        .define(request.bean(AsyncPool.self, factory: { AsyncPool(journal) }).externallyOwned())
    }
    try requests.withChild(1) {
      _ = try $0.getBean(Pool.self)
      _ = try $0.getBean(AsyncPool.self)
    }
    try await requests.withChild(2) {
      await Task.yield()
      _ = try $0.getBean(AsyncPool.self)
    }
    #expect(journal.entries == ["pool begins"])
    try await environment.shutdown()
  }

  @Test("A template's external ownership holds for the beans that inherit from it")
  func externallyOwnedTemplate() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(
        environment.bean(Pool.self, id: "template", abstract: true, factory: { Pool("heir", journal) })
          .externallyOwned()
      )
      .define(environment.bean(Pool.self, id: "heir", parent: "template"))
    try environment.startup().shutdown()
    #expect(journal.entries == ["heir begins"])
  }

  // MARK: Owned

  @Test("A synchronous release of a bean that has to be awaited reports this, and leaves the bean unreleased")
  func synchronousRelease() async throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment.define(
      environment.bean(AsyncPool.self, factory: { AsyncPool(journal) }).scope("prototype"))
    let owned = try environment.getBean(Owned<AsyncPool>.self)
    func releaseSynchronously() throws { try owned.release() }
    let fault = try requireFault(.destructionFailed) { try releaseSynchronously() }
    #expect(fault.message.contains("await release()"), "\(fault)")
    #expect(journal.entries == [])
    _ = try owned.get()
    try await owned.release()
    #expect(journal.entries == ["released"])

    let other = try environment.getBean(Owned<AsyncPool>.self)
    func releaseOther() throws { try other.release() }
    try requireFault(.destructionFailed) { try releaseOther() }
    try await environment.shutdown()
    #expect(journal.entries == ["released", "released"])
  }

  @Test("An owned bean of a singleton's provider belongs to the singleton, even if a request is current")
  func providedToASingleton() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Pool.self, factory: { Pool("pool", journal) }).scope("prototype"))
      .define(environment.bean(Keeper.self, factory: { (pools: Provider<Owned<Pool>>) in Keeper(pools) }))
    let requests = try environment.childFactory("request", seed: Int.self)
    try environment.startup()
    let keeper = try environment.getBean(Keeper.self)
    try requests.withChild(1) { _ in try keeper.take() }
    #expect(journal.entries == ["pool begins"])
    #expect(try keeper.pool() != nil)
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }
}

private final class Pool: Bean, DisposableBean, Sendable {
  private let name: String
  private let journal: Journal
  init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }
  func postConstruct() { journal.note("\(name) begins") }
  func preDestroy() { journal.note("\(name) ends") }
}

private final class AsyncPool: AsyncDisposableBean, Sendable {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() async { journal.note("released") }
}

/// A singleton that takes pools while requests run, and keeps the last one.
private final class Keeper: Sendable {
  private let pools: Provider<Owned<Pool>>
  private let kept = Guarded<Owned<Pool>?>(nil)
  init(_ pools: Provider<Owned<Pool>>) { self.pools = pools }

  func take() throws {
    let pool = try pools.get()
    kept.withLock { $0 = pool }
  }

  func pool() throws -> Pool? { try kept.withLock { $0 }?.get() }
}
