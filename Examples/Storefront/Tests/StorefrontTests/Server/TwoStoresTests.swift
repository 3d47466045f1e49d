import Beans
import BeansSessions
import BeansTesting
import Testing

@testable import Storefront

/// Checkouts, which change a session and the database, where one of both fails.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct TwoStoresTests {
  /// A shop whose sessions a test can disturb, and a visitor with one piece in the cart.
  private struct Shop {
    let server: TestServer
    let sessions: HookedSessions
    let database: TemporaryDatabase
    var shopper: Shopper

    init() throws {
      let environment = try Test.environment
      server = try TestServer(environment)
      sessions = try environment.getBean(HookedSessions.self)
      database = try environment.getBean(TemporaryDatabase.self)
      shopper = try Shopper(port: server.port)
    }

    func orders() throws -> [String] {
      try database.connect().query("SELECT id FROM orders") { row in row.text(0) }
    }

    mutating func checkOut() throws -> TestClient.Response {
      try shopper.checkOut()
      return try shopper.receive()
    }

    /// Places an order whose goods stay in the cart.
    mutating func leaveUnsettled() throws {
      let path = database.path
      sessions.beforeSave { _ throws(SessionError) in
        if hasOrders(path) { throw .unavailable("of a test") }
      }
      #expect(try checkOut().status == 201)
      sessions.beforeSave(nil)
    }

    /// The id of the order that a response confirms.
    static func order(_ response: TestClient.Response) -> String? {
      response.text.firstMatch(of: /"id":"([0-9a-f]+)"/).map { String($0.1) }
    }
  }

  private static let served = TestShop.served(sharesSessions: true)

  /// A shop in which a test can interrupt a request before its handler runs, by a bean `Interruption`.
  private static let interrupted: @Sendable (Environment) throws -> Void = { application in
    try served(application)
    let interruption = Interruption()
    try application.define(application.bean(interruption)).define(
      application.decorate(RequestLog.self) { log in
        try interruption.run()
        return log
      })
  }

  /// The code that interrupts one request.
  private final class Interruption: Sendable {
    private let body = Guarded<(@Sendable () throws -> Void)?>(nil)

    /// Runs `body` in the next request, before its handler.
    func interrupt(_ body: @escaping @Sendable () throws -> Void) { self.body.withLock { $0 = body } }

    func run() throws { try body.withLock { $0.take() }?() }
  }

  @Test(
    "a checkout whose session cannot be saved after the commit is confirmed, and the next request empties the cart",
    .beans(served),
    arguments: [
      SessionError.conflict(["cart"]), .ended, .unavailable("of a test"), .outcomeUnknown("of a test"),
    ])
  func confirmsWhatIsCommitted(failure: SessionError) throws {
    var shop = try Shop()
    let path = shop.database.path
    shop.sessions.beforeSave { _ throws(SessionError) in
      if Self.hasOrders(path) { throw failure }
    }
    let confirmed = try shop.checkOut()
    #expect(confirmed.status == 201)
    #expect(try shop.orders() == [Shop.order(confirmed)])
    shop.sessions.beforeSave(nil)
    #expect(try shop.shopper.readCart().contains("\"pieces\":0"))
    #expect(try shop.checkOut().status == 409)
    #expect(try shop.orders().count == 1)
    try shop.server.end()
  }

  @Test("a checkout that is repeated because its session could not be saved finds its order", .beans(served))
  func aRepeatedCheckoutFindsItsOrder() throws {
    var shop = try Shop()
    let path = shop.database.path
    shop.sessions.beforeSave { _ throws(SessionError) in
      if Self.hasOrders(path) { throw .unavailable("of a test") }
    }
    let first = try shop.checkOut()
    shop.sessions.beforeSave(nil)
    let second = try shop.checkOut()
    #expect(first.status == 201 && second.status == 201)
    #expect(first.body == second.body)
    #expect(try shop.orders() == [Shop.order(first)])
    #expect(try shop.shopper.readCart().contains("\"pieces\":0"))
    #expect(shop.server.sales?.hasPrefix("orders placed: 1,") == true)
    try shop.server.end()
  }

  @Test("a checkout whose session has ended places no order", .beans(served), arguments: [true, false])
  func placesNothingWithoutASession(isBeforeTheFirstSave: Bool) throws {
    var shop = try Shop()
    let sessions = shop.sessions
    // The store keeps the hook.
    let end: HookedSessions.Hook = { [weak sessions] id throws(SessionError) in try await sessions?.end(id) }
    if isBeforeTheFirstSave { sessions.beforeSave(end) } else { sessions.afterSave(end) }
    let refused = try shop.checkOut()
    #expect(refused.status == 409)
    #expect(try shop.orders().isEmpty)
    try shop.server.end()
  }

  @Test("a checkout that ends before the commit leaves the cart, and the next one buys it once", .beans(served))
  func keepsTheCartWithoutACommit() throws {
    var shop = try Shop()
    // The session keeps the order's id, and the checkout does not know.
    shop.sessions.afterSave { _ throws(SessionError) in throw .outcomeUnknown("of a test") }
    #expect(try shop.checkOut().status == 503)
    #expect(try shop.orders().isEmpty)
    shop.sessions.afterSave(nil)
    #expect(try shop.shopper.readCart().contains("\"pieces\":1"))
    let confirmed = try shop.checkOut()
    #expect(confirmed.status == 201)
    #expect(try shop.orders() == [Shop.order(confirmed)])
    #expect(try shop.shopper.readCart().contains("\"pieces\":0"))
    try shop.server.end()
  }

  @Test("a piece that is added after a commit whose session could not be saved stays in the cart", .beans(served))
  func keepsWhatIsAddedAfterTheCommit() throws {
    var shop = try Shop()
    let path = shop.database.path
    shop.sessions.beforeSave { _ throws(SessionError) in
      if Self.hasOrders(path) { throw .ended }
    }
    #expect(try shop.checkOut().status == 201)
    shop.sessions.beforeSave(nil)
    #expect(try shop.shopper.add().text.contains("\"pieces\":1"))
    try shop.server.end()
  }

  @Test(
    "an addition that removes bought goods first is made or refused, although another request saves the removal",
    .beans(interrupted), arguments: [(SessionError.conflict(["cart"]), 200, 2), (.ended, 409, 1)])
  func addsOrNot(failure: SessionError, status: Int, pieces: Int) async throws {
    var shop = try Shop()
    try shop.leaveUnsettled()
    let environment = try Test.environment
    let (sessions, id) = (shop.sessions, String(shop.shopper.cookie.drop { $0 != "=" }.dropFirst()))
    let shared = try environment.getBean(ShopEnvironment.self).sessions
    let others = Guarded<[Task<Void, any Error>]>([])
    try environment.getBean(Interruption.self).interrupt {
      let done = Gate()
      let other = Task(executorPreference: QueueExecutor()) {
        defer { done.open() }
        _ = try await shared.withSession(cookie: id) { try $0.environment.getBean(Cart.self).add(3) }
      }
      try done.wait()
      others.withLock { $0.append(other) }
      sessions.beforeSave(Self.once(failure))
    }
    #expect(try shop.shopper.add().status == status)
    for other in others.withLock({ $0 }) { try await other.value }
    #expect(try shop.shopper.readCart().contains("\"pieces\":\(pieces)"))
    #expect(try shop.orders().count == 1)
    try shop.server.end()
  }

  @Test("an addition removes bought goods again if the outcome of their removal is unknown", .beans(served))
  func settlesAgain() throws {
    var shop = try Shop()
    try shop.leaveUnsettled()
    shop.sessions.afterSave(Self.once(.outcomeUnknown("of a test")))
    #expect(try shop.shopper.add().status == 200)
    #expect(try shop.shopper.readCart().contains("\"pieces\":1"))
    #expect(try shop.orders().count == 1)
    try shop.server.end()
  }

  /// `SOAK_STORES` says for how many rounds, five on one node and one on two.
  @Test("requests of one visitor that meet on one node buy each piece once, with one confirmation for each order")
  func oneNode() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, environment: ["LOOPS": "2"])
    let port = try service.port()
    let rounds = CheckoutRounds(database: database, ports: [port, port])
    try rounds.run((setting("SOAK_STORES") ?? 4) * 5)
    let end = try service.end()
    #expect(end.isClean, "\(end.output)")
  }

  @Test(
    "requests of one visitor that meet on two nodes buy each piece once, with one confirmation for each order",
    .enabled(if: RedisProcess.executable != nil, "redis-server is not installed"))
  func twoNodes() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    try CheckoutRounds(database: cluster.database, ports: cluster.ports).run(setting("SOAK_STORES") ?? 4)
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  /// A hook that fails once.
  private static func once(_ failure: SessionError) -> HookedSessions.Hook {
    let failures = Guarded([failure])
    return { _ throws(SessionError) in
      if let failure = failures.withLock({ $0.popLast() }) { throw failure }
    }
  }

  /// Opened anew for each look: a hook runs on any thread.
  private static func hasOrders(_ path: String) -> Bool {
    let connection = try? SQLiteConnection(path: path, busyTimeout: .seconds(5), journalMode: .wal)
    return (try? connection?.query("SELECT 1 FROM orders LIMIT 1") { row in row.integer(0) })?.isEmpty == false
  }
}
