// The types around the listings of the article on sessions, and forms that it names without a listing.

import Beans
import BeansSessions
import Synchronization

struct TwoStores {
  struct Order: Equatable, Sendable {
    let id: String
    /// Quantities by product.
    let goods: [Int: Int]
  }

  enum ShopError: Error { case emptyCart }

  struct Response: Sendable {
    let status: Int
    let order: Order
    var cookie: String?
  }

  /// A database, as far as a checkout knows it.
  final class Orders: Sendable {
    private let rows = Mutex<[String: Order]>([:])

    /// Commits an order, unless there is one of that id.
    func place(_ order: Order) async throws -> Order {
      rows.withLock { rows in
        let placed = rows[order.id] ?? order
        rows[order.id] = placed
        return placed
      }
    }

    func find(_ id: String) async throws -> Order? { rows.withLock { $0[id] } }

    var count: Int { rows.withLock { $0.count } }
  }

  func newId() -> String { "\(UInt64.random(in: .min ... .max))" }
}

struct SessionsArticle {
  final class Cart: Sendable {}
  struct Request: Sendable { let cookie: String? }
  struct Response: Sendable, Equatable {
    var text = ""
    var cookie: String?
    var status = 200
    var retryAfter: Int?
  }

  final class Handler: Sendable {
    private let (request, cart): (Request, Cart)
    init(request: Request, cart: Cart) { (self.request, self.cart) = (request, cart) }
    func respond() -> Response { Response(text: "\(ObjectIdentifier(cart))", cookie: request.cookie) }
  }

  struct Metrics: Sendable {
    func count(_ name: String) {}
  }

  func fill(_ cart: Cart) -> Response { Response(text: "\(ObjectIdentifier(cart))") }
}

struct SessionKinds {
  struct Visitor: Sendable { let name: String }
  struct Greeting: Sendable {
    let text: String
    init(visitor: Visitor) { text = "Hello, \(visitor.name)!" }
  }
}

extension SessionKinds {
  /// The state of one request.
  func greet(_ visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) throws -> String {
    try requests.withChild(visitor) { request in try request.getBean(Greeting.self).text }
  }

  /// The state of one connection, which keeps the handle until it is closed.
  func connect(_ visitor: Visitor, _ requests: EnvironmentFactory<Visitor>) throws -> ChildHandle {
    try requests.open(visitor)
  }

  /// The state of a client with a cookie, in memory or in a store.
  func visit(
    _ cookie: String?, _ sessions: Sessions<SessionState>
  ) async throws -> (value: Int, cookie: SessionCookie) {
    let answer = try await sessions.withSession(cookie: cookie) { session in
      try session.environment.getBean(StoredVisits.self).next()
    }
    return (answer.value, answer.cookie)
  }

  /// The state under an id that the service knows, in memory.
  func visit(_ id: String, in sessions: Sessions<Void>) throws -> Int? {
    try sessions.withSession(id) { session in try session.getBean(Visits.self).next() }
  }
}

extension SessionKinds {
  final class Visits: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  final class StoredVisits: Sendable {
    private let count: SessionValue<Int>

    init(state: SessionState) throws { count = try state.value("visits", default: 0) }

    func next() -> Int {
      count.update { count in
        count += 1
        return count
      }
    }
  }
}

extension SessionsArticle {
  final class Basket: Sendable {
    private let products: SessionValue<[String]>

    init(state: SessionState) throws { products = try state.value("products", default: []) }

    func add(_ product: String) -> Int {
      products.update { products in
        products.append(product)
        return products.count
      }
    }
  }

  func declareSessions(in shop: Environment) throws -> Sessions<SessionState> {
    let factory = try shop.childFactory("session", seed: SessionState.self) { session in
      try session.define(Basket.self, factory: Basket.init)
    }
    return Sessions(factory, capacity: 10_000, idleLimit: .seconds(1_800))
  }

  func add(_ product: String, _ request: Request, _ sessions: Sessions<SessionState>) async throws -> Response {
    let answer = try await sessions.withSession(cookie: request.cookie) { session in
      try session.environment.getBean(Basket.self).add(product)
    }
    var response = Response(text: "\(answer.value)")
    if case .set(let id) = answer.cookie { response.cookie = id }
    return response
  }
}

extension SessionsArticle {
  func declareSessions(
    in shop: Environment, onEvent: @escaping @Sendable (SessionEvent) -> Void
  ) throws -> Sessions<Void> {
    let factory = try shop.childFactory("session", seed: Void.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return Sessions(factory, capacity: 10_000, idleLimit: .seconds(1_800), onEvent: onEvent)
  }
}

extension SessionsArticle {
  func logIn(_ id: String, _ sessions: Sessions<Void>) throws -> Response {
    Response(text: "welcome", cookie: try sessions.rotate(id))
  }
}

extension SessionsArticle {
  func declareRequests(in sessions: EnvironmentFactory<Void>) throws -> EnvironmentFactory<Request> {
    try sessions.childFactory("request", seed: Request.self) { request in
      try request.define(request.bean(Handler.self, factory: Handler.init))
    }
  }

  func respond(
    to request: Request, _ requests: EnvironmentFactory<Request>, in session: Environment
  ) throws -> Response {
    try requests.withChild(request, in: session) { child in try child.getBean(Handler.self).respond() }
  }
}

extension SessionsArticle {
  func begin(
    _ request: Request, _ requests: EnvironmentFactory<Request>, in session: Environment,
    send: (_ response: Response, _ whenWritten: @escaping @Sendable () -> Void) -> Void
  ) throws {
    let child = try requests.build(request, in: session)
    do {
      send(try child.getBean(Handler.self).respond()) { child.finish() }
    } catch {
      child.finish()
      throw error
    }
  }
}

extension SessionsArticle {
  func declareSessions(in shop: Environment, releasedOn executor: any TaskExecutor) throws -> Sessions<Void> {
    try shop.define(Cart.self, factory: Cart.init) { $0.scope("session") }
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { ExecutorScope(name: "session", executor: executor) })
    return Sessions(factory, capacity: 10_000, idleLimit: .seconds(1_800))
  }
}
