// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import Synchronization

// end

struct ShuttingDown {
  final class Database: Sendable {
    struct Full: Error {}
    let steps = Mutex<[String]>([])
    func commit(_ rows: [String]) async throws {
      if rows.contains(where: { $0.hasPrefix("too much") }) { throw Full() }
      steps.withLock { $0 += rows }
    }
    func rollBack() async { steps.withLock { $0.append("rolled back") } }
  }

  final class Gateway: Sendable {
    private let connected = Mutex(true)
    var isConnected: Bool { connected.withLock { $0 } }
    func disconnect() throws { connected.withLock { $0 = false } }
  }

  final class Connection: DisposableBean, Sendable {
    private let open = Mutex(true)
    var isOpen: Bool { open.withLock { $0 } }
    func preDestroy() { open.withLock { $0 = false } }
  }

  final class Queue: Sendable {
    struct Unreachable: Error {}
    let connection: Connection
    let wasOpen = Mutex<Bool?>(nil)
    init(connection: Connection) { self.connection = connection }
    func flush() throws {
      wasOpen.withLock { $0 = connection.isOpen }
      throw Unreachable()
    }
  }

  struct Visitor: Sendable { let name: String }

  protocol Store: Sendable { var isOpen: Bool { get } }

  final class SQLiteStore: Store, DisposableBean {
    private let open = Mutex(true)
    var isOpen: Bool { open.withLock { $0 } }
    func preDestroy() { open.withLock { $0 = false } }
  }

  final class Greeter: Sendable {
    private let visitor: Visitor
    init(visitor: Visitor) { self.visitor = visitor }
    func greet() -> String { "Hello, \(visitor.name)!" }
  }

  final class Server: Sendable {
    let calls = Mutex<[String]>([])
    func stopAccepting() { calls.withLock { $0.append("stop accepting") } }
    func answerWhatHasArrived(within limit: Duration, then done: @escaping @Sendable () -> Void) {
      calls.withLock { $0.append("answer within \(limit)") }
      done()
    }
  }
}

extension ShuttingDown {
  // continued
  struct OutOfStock: Error {}

  final class Transaction: Sendable {
    private let database: Database
    private let rows = Mutex<[String]>([])
    init(database: Database) { self.database = database }

    func insert(_ row: String) { rows.withLock { $0.append(row) } }

    func end(_ outcome: ScopeOutcome) async throws {
      switch outcome {
      case .completed: try await database.commit(rows.withLock { $0 })
      case .failed: await database.rollBack()
      }
    }
  }

  func declareRequests(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.define(Database.self, factory: Database.init)
    return try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define(Transaction.self, factory: Transaction.init) { $0.onDestroy { try await $0.end($1) } }
    }
  }

  func order(_ product: String, for visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) async throws {
    try await requests.withChild(visitor) { request in
      try request.getBean(Transaction.self).insert("\(product) for \(visitor.name)")
      if product == "sold out" { throw OutOfStock() }
    }
  }
  // end

  // listing
  final class Response: Sendable {
    typealias Body = @Sendable ((String) async throws -> Void) async throws -> Void
    let body: Body
    init(body: @escaping Body) { self.body = body }
  }

  func respond(to visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) async throws -> Response {
    let request = try requests.open(visitor)
    let greeter = try await request.withCurrent { child in try child.getBean(Greeter.self) }
    return Response { write in
      try await request.end { _ in try await write(greeter.greet()) }
    }
  }
  // end

  // listing
  func declareQueue(in shop: Environment) throws {
    try shop
      .define(Connection.self, factory: Connection.init)
      .define(Queue.self, factory: Queue.init) { $0.onDestroy { queue in try queue.flush() } }
  }
  // end

  // listing
  func declareGateway(in shop: Environment) throws {
    try shop.define(Gateway.self, factory: Gateway.init) { gateway in
      gateway.onDestroy { try $0.disconnect() }.releaseLimit(.seconds(2))
    }
  }

  func end(_ shop: Environment) -> [String] {
    do {
      try shop.shutdown(within: .seconds(5))
      return []
    } catch let error as EnvironmentError {
      // One failure is thrown as it is; of several, the error holds all.
      let failures = error.underlying.compactMap { $0 as? EnvironmentError }.filter { $0.code == .destructionFailed }
      return (failures.isEmpty ? [error] : failures).map(\.description)
    } catch {
      return ["\(error)"]
    }
  }
  // end
}

// listing
import BeansEventLoop
import BeansServer

// end

extension ShuttingDown {
  // continued
  func run(_ shop: Environment, on loop: EventLoop, _ server: Server) throws {
    let lifecycle = ServerLifecycle(
      environment: shop, loop: loop, drainLimit: .seconds(10), shutdownLimit: .seconds(5)
    ) { limit, done in
      server.stopAccepting()
      server.answerWhatHasArrived(within: limit, then: done)
    }
    try lifecycle.run()
  }
  // end
}

extension ShuttingDown {
  // listing
  func declareStore(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.define(SQLiteStore.self, factory: SQLiteStore.init)
    return try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define((any Store).self, factory: { (store: SQLiteStore) -> any Store in store })
    }
  }
  // end
}
