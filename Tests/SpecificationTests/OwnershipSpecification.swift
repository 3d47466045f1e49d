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
      .define(environment.bean(handed, id: "handed").externallyOwned().onDestroy { _ in journal.note("callback") })
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
    try await requests.withChild(1) {
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
    try environment.define(environment.bean(AsyncPool.self, factory: { AsyncPool(journal) }).scope("prototype"))
    let owned = try environment.getBean(Owned<AsyncPool>.self)
    func releaseSynchronously() throws { try owned.release() }
    try requireFault(.destructionFailed, message: "await release()") { try releaseSynchronously() }
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

  // MARK: beans that own beans

  /// Declares a branch that owns a twig and two leaves, and a twig that owns a leaf and takes a pool.
  private func makeTree(
    leaf: (TypedBeanDeclaration<Leaf>) -> Void = { _ in }
  ) throws -> Environment {
    let (environment, journal) = (try Environment(name: "tree"), journal)
    let leaves = Guarded(0)
    return
      try environment
      .define(environment.bean(Pool.self, factory: { Pool("pool", journal) }).scope("prototype"))
      .define(
        Leaf.self,
        factory: {
          Leaf(
            leaves.withLock {
              $0 += 1; return $0
            }, journal)
        }
      ) {
        leaf($0.scope("prototype"))
      }
      .define(Twig.self, factory: { Twig($0, $1, journal) }) { $0.scope("prototype") }
      .define(Branch.self, factory: { Branch($0, $1, journal) }) { $0.scope("prototype") }
  }

  @Test("The release of an owned bean releases what it owns, at any depth, after the bean and last made first")
  func ownedByOwned() throws {
    let environment = try makeTree()
    try environment.getBean(Owned<Branch>.self).release()
    let expected = ["pool begins", "branch", "leaf 2", "twig", "pool ends", "leaf 1"]
    #expect(journal.entries == expected)
    try environment.shutdown()
    #expect(journal.entries == expected)
  }

  @Test("An owned bean that its taker has released is not released again with the taker")
  func ownedReleasedBefore() throws {
    let environment = try makeTree()
    let branch = try environment.getBean(Owned<Branch>.self)
    try branch.get().twig.release()
    #expect(journal.entries == ["pool begins", "twig", "pool ends", "leaf 1"])
    try branch.release()
    #expect(journal.entries == ["pool begins", "twig", "pool ends", "leaf 1", "branch", "leaf 2"])
    try environment.shutdown()
    #expect(journal.entries.count == 6)
  }

  @Test("The end of the environment releases what is left, each bean once and after its owner")
  func ownedByOwnedAtTheEnd() throws {
    let environment = try makeTree()
    _ = try environment.getBean(Owned<Branch>.self)
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "branch", "leaf 2", "twig", "pool ends", "leaf 1"])
  }

  @Test("Beans of a provider do not accumulate what they own")
  func noAccumulation() throws {
    let environment = try makeTree()
    let branches = try environment.getBean(Provider<Owned<Branch>>.self)
    weak var leaf: Leaf?
    for _ in 0..<10 {
      let branch = try branches.get()
      leaf = try branch.get().leaf?.get()
      #expect(leaf != nil)
      try branch.release()
    }
    #expect(leaf == nil)
    #expect(journal.entries.count == 60)
    try environment.shutdown()
    #expect(journal.entries.count == 60)
  }

  @Test("A synchronous release is refused as a whole if something inside has to be awaited")
  func awaitedInside() async throws {
    let journal = journal
    let environment = try makeTree {
      $0.onDestroy { _ in
        await Task.yield(); journal.note("awaited")
      }
    }
    let branch = try environment.getBean(Owned<Branch>.self)
    func releaseSynchronously() throws { try branch.release() }
    try requireFault(.destructionFailed, message: "Leaf") { try releaseSynchronously() }
    #expect(journal.entries == ["pool begins"])
    try await branch.release()
    #expect(
      journal.entries == ["pool begins", "branch", "leaf 2", "awaited", "twig", "pool ends", "leaf 1", "awaited"])
    try await environment.shutdown()
    #expect(journal.entries.count == 8)
  }

  @Test("A build that fails releases what it owned")
  func failedBuild() throws {
    struct Broken: Error {}
    let environment = try makeTree()
    try environment.define(Fence.self, factory: { (_: Owned<Twig>) throws -> Fence in throw Broken() }) {
      $0.scope("prototype")
    }
    try requireFault(.creationFailed) { try environment.getBean(Owned<Fence>.self) }
    #expect(journal.entries == ["pool begins", "twig", "pool ends", "leaf 1"])
    try environment.shutdown()
    #expect(journal.entries.count == 4)
  }

  // MARK: what can be owned

  @Test(
    "Owned of a bean that its environment keeps is a fault at startup, inside of every relationship type",
    arguments: [
      owning(Owned<Pool>.self), owning([Owned<Pool>].self), owning(Owned<Pool>?.self),
      owning([String: Owned<Pool>].self),
      owning(Lazy<Owned<Pool>>.self), owning(Provider<Owned<Pool>>.self), owning(Provider<[Owned<Pool>]>.self),
      owning(Provider<Owned<Pool>?>.self), owning(Provider<[String: Owned<Pool>]>.self),
      owning([Lazy<Owned<Pool>>].self),
      owning(Lazy<Provider<Owned<Pool>>>.self), owning(Provider<Provider<Owned<Pool>>>.self),
      owning(Provider<Lazy<Owned<Pool>>>.self), owning(Lazy<[Owned<Pool>]>.self),
    ])
  func keptBeanOwned(_ owning: Owning) throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment.define(Pool.self, factory: { Pool("pool", journal) }) { $0.id("pool") }
    try owning.declare(environment)
    let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
    #expect(fault.cause == .keptBeanOwned, "\(fault)")
  }

  @Test(
    "Owned of a child's own bean is a fault at startup, inside of Current and of a provider further out",
    arguments: [owning(Current<Owned<Pool>>.self), owning(Provider<Owned<Pool>>.self)])
  func keptBeanOfAChildOwned(_ owning: Owning) throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try owning.declare(environment)
    _ = try environment.childFactory("request", seed: Int.self) {
      try $0.define(Pool.self, factory: { Pool("pool", journal) })
    }
    let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
    #expect(fault.cause == .keptBeanOwned, "\(fault)")
  }

  @Test("A provider of owned beans is correct if some bean that it may find is a prototype")
  func onePrototypeIsEnough() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try Self.owning(Provider<Owned<Pool>>.self).declare(environment)
    let requests = try environment.childFactory("request", seed: Int.self) {
      try $0.define(Pool.self, factory: { Pool("pool", journal) }) { $0.scope("prototype") }
    }
    try environment.startup()
    try requests.withChild(1) { child in try child.getBean(Provider<Owned<Pool>>.self).get().release() }
    #expect(journal.entries == ["pool begins", "pool ends"])
    try environment.shutdown()
  }

  struct Owning: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let declare: @Sendable (Environment) throws -> Void
  }

  private static func owning<T>(_ type: T.Type) -> Owning {
    Owning(testDescription: "\(type)") { try $0.define(Fence.self, factory: { (_: T) in Fence() }) }
  }
}

private final class Fence: Sendable {}

private final class Leaf: DisposableBean, Sendable {
  private let number: Int
  private let journal: Journal
  init(_ number: Int, _ journal: Journal) { (self.number, self.journal) = (number, journal) }
  func preDestroy() { journal.note("leaf \(number)") }
}

private final class Twig: DisposableBean, Sendable {
  private let leaf: Owned<Leaf>
  private let journal: Journal
  init(_ leaf: Owned<Leaf>, _ pool: Pool, _ journal: Journal) { (self.leaf, self.journal) = (leaf, journal) }
  func preDestroy() { journal.note("twig") }
}

private final class Branch: DisposableBean, Sendable {
  let twig: Owned<Twig>
  let leaf: Owned<Leaf>?
  private let journal: Journal
  init(_ twig: Owned<Twig>, _ leaf: Owned<Leaf>?, _ journal: Journal) {
    (self.twig, self.leaf, self.journal) = (twig, leaf, journal)
  }
  func preDestroy() { journal.note("branch") }
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
