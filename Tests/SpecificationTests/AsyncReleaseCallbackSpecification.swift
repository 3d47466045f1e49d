import Beans
import TestSupport
import Testing

@Suite("onDestroy with an asynchronous closure", .timeLimit(.minutes(20))) struct AsyncReleaseCallbackSpecification {
  private let journal = Journal()

  private func shop(_ more: (Environment) throws -> Void = { _ in }) throws -> Environment {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop
      .define(Pool.self, factory: Pool.init) { $0.onDestroy { _ in journal.note("pool") } }
      .define(Client.self, factory: Client.init) { $0.onDestroy { client in await journal.noteLater("client") } }
      .define(Handler.self, factory: Handler.init) { $0.onDestroy { _ in journal.note("handler") } }
    try more(shop)
    return shop
  }

  @Test("await shutdown() awaits the closure in its place of the order")
  func order() async throws {
    try await shop().startup().shutdown()
    #expect(journal.entries == ["handler", "client", "pool"])
  }

  @Test("A closure without await, or a synchronous method, is a synchronous release, in asynchronous functions, too")
  func synchronousClosures() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop
      .define(Pool.self, factory: Pool.init) {
        $0.onDestroy { _ in journal.note("closure") }
          .onDestroy { _, outcome in journal.note("\(outcome)") }
      }
      .define(Client.self, factory: Client.init) { $0.onDestroy(journal.release) }
    try shop.startup()
    try Self.end(shop)
    #expect(journal.entries == ["Client", "closure", "completed"])
  }

  @Test("An asynchronous method is an asynchronous release")
  func asynchronousMethod() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop.define(Pool.self, factory: Pool.init) { $0.onDestroy(journal.releaseLater) }
    try shop.startup()
    try requireFault(.destructionFailed, message: "Pool is released asynchronously") { try Self.end(shop) }
  }

  private static func end(_ environment: Environment) throws { try environment.shutdown() }

  @Test("A synchronous shutdown releases all other beans, and its error names the bean")
  func synchronous() throws {
    let fault = try requireFault(.destructionFailed) { try shop().startup().shutdown() }
    #expect(fault.message.contains("Client is released asynchronously: a task releases it"))
    #expect(journal.entries.filter { $0 != "client" } == ["handler", "pool"])
  }

  @Test("A synchronous shutdown leaves the whole release to a task, in its order")
  func otherParts() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    let released = AsyncGate()
    try shop.define(Closing.self, factory: { Closing(journal) }) {
      $0.onDestroy { _ in journal.note("first") }
        .onDestroy { _ in await journal.noteLater("second") }
        .onDestroy { _ in
          journal.note("third")
          released.arrive()
        }
    }
    try requireFault(.destructionFailed, message: "released asynchronously") { try Self.end(shop.startup()) }
    await released.arrivals(1)
    #expect(journal.entries == ["preDestroy", "first", "second", "third"])
  }

  @Test("The closures of one bean run in the order of the declaration, after preDestroy")
  func severalClosures() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop
      .define(Closing.self, factory: { Closing(journal) }) {
        $0.onDestroy { _ in journal.note("first") }
          .onDestroy { _ in await journal.noteLater("second") }
          .onDestroy { _ in journal.note("third") }
      }
      .define(AsyncClosing.self, factory: { (_: Closing) in AsyncClosing(journal) }) {
        $0.onDestroy { _ in await journal.noteLater("after") }
      }
    try await shop.startup().shutdown()
    #expect(journal.entries == ["async preDestroy", "after", "preDestroy", "first", "second", "third"])
  }

  @Test("A failure of the closure is thrown, and the other releases run")
  func failure() async throws {
    let shop = try shop {
      try $0.define(Closing.self, factory: { [journal] in Closing(journal) }) {
        $0.onDestroy { _ in
          await Task.yield()
          throw Boom()
        }
      }
    }
    try shop.startup()
    try await requireAwaitedFault(.destructionFailed, causes: [Boom()]) { try await shop.shutdown() }
    #expect(Set(journal.entries) == ["handler", "client", "pool", "preDestroy"])
  }

  @Test("The closure of onDestroy receives the outcome of its scope")
  func outcome() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Pool.self, factory: Pool.init) {
        $0.onDestroy { _, outcome in
          await Task.yield()
          if case .failed(is Boom) = outcome { journal.note("rolled back") } else { journal.note("committed") }
        }
      }
    }
    try await requests.withChild(1) {
      await Task.yield()
      _ = try $0.getBean(Pool.self)
    }
    await #expect(throws: Boom.self) {
      try await requests.withChild(2) {
        await Task.yield()
        _ = try $0.getBean(Pool.self)
        throw Boom()
      }
    }
    #expect(journal.entries == ["committed", "rolled back"])
    try await shop.shutdown()
  }

  @Test("The end of a request awaits an asynchronous release only of a bean that exists")
  func unusedInRequest() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Pool.self, factory: Pool.init) { $0.onDestroy { _ in await journal.noteLater("pool") } }
    }
    try Self.open(requests) { _ in }
    #expect(journal.entries.isEmpty)
    try requireFault(.destructionFailed, message: "Pool") { try Self.open(requests) { _ = try $0.getBean(Pool.self) } }
    try await shop.shutdown()
    #expect(journal.entries == ["pool"])
  }

  @Test("A template passes the closure on, and an external owner leaves it out")
  func options() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop
      .define(
        shop.bean(Pool.self, id: "base", abstract: true, factory: Pool.init)
          .onDestroy { _ in await journal.noteLater("inherited") }
      )
      .define(shop.bean(parent: "base", id: "pool"))
      .define(Closing.self, factory: { Closing(journal) }) {
        $0.externallyOwned().onDestroy { _ in await journal.noteLater("external") }
      }
    try shop.startup()
    try await shop.shutdown()
    #expect(journal.entries == ["inherited"])
  }

  @Test("An owned bean is released by await release()")
  func owned() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop.define(Pool.self, factory: Pool.init) {
      $0.scope("prototype").onDestroy { _ in await journal.noteLater("pool") }
    }
    let pool = try shop.getBean(Owned<Pool>.self)
    try requireFault { try Self.release(pool) }
    #expect(journal.entries.isEmpty)
    try await pool.release()
    #expect(journal.entries == ["pool"])
    try await shop.shutdown()
  }

  private static func open(_ requests: EnvironmentFactory<Int>, _ body: (Environment) throws -> Void) throws {
    try requests.withChild(1) { try body($0) }
  }
  private static func release(_ pool: Owned<Pool>) throws { try pool.release() }
}

private final class Pool: Sendable {}
private final class Client: Sendable { init(_ pool: Pool) {} }
private final class Handler: Sendable { init(_ client: Client) {} }
private final class Closing: DisposableBean, Sendable {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() { journal.note("preDestroy") }
}
private final class AsyncClosing: AsyncDisposableBean, Sendable {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() async { journal.note("async preDestroy") }
}

extension Journal {
  @Sendable fileprivate func release(_ bean: Client) throws { note("\(type(of: bean))") }
  @Sendable fileprivate func releaseLater(_ bean: Pool) async { note("\(type(of: bean))") }
}
