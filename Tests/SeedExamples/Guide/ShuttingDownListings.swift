// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans
import BeansEventLoop
import BeansServer

// end

struct ShuttingDown {
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
  func declareQueue(in shop: Environment) throws {
    try shop
      .define(shop.bean(Connection.self, factory: Connection.init).releaseLimit(.seconds(1)))
      .define(
        shop.bean(Queue.self, factory: Queue.init).onDestroy { queue in try queue.flush() })
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

  // listing
  final class Response: Sendable {
    typealias Body = @Sendable ((String) async throws -> Void) async throws -> Void
    let body: Body
    init(body: @escaping Body) { self.body = body }
  }

  func respond(to visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) async throws -> Response {
    let request = try requests.open(visitor)
    let greeter = try await request.withCurrent { child in try await child.getBean(awaiting: Greeter.self) }
    return Response { write in
      try await request.end { _ in try await write(greeter.greet()) }
    }
  }
  // end

  // listing
  func declareStore(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.define(shop.bean(SQLiteStore.self, factory: SQLiteStore.init))
    return try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define(request.bean((any Store).self, factory: { (store: SQLiteStore) -> any Store in store }))
    }
  }
  // end

  // listing
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
