import Beans
import BeansSessions
import BeansTesting
import Testing

@testable import Storefront

/// The entries of the error log.
private final class WrittenErrors: Sendable {
  private let lines = Guarded<[String]>([])
  var count: Int { lines.withLock { $0.count } }
  func write(_ line: String) { lines.withLock { $0.append(line) } }
}

@Sendable private func declareShop(_ application: Environment) throws {
  try TestShop.declare(application)
  try application.define(application.bean(WrittenErrors.self, factory: { WrittenErrors() }))
}

private struct Deaf: Error {}

@Sendable private func declareShopWithAFailingListener(_ application: Environment) throws {
  try declareShop(application)
  try application.define(application.bean(7).listens { (_, _: OrderPlaced) in throw Deaf() })
}

/// The handlers as the service declares them, in requests of one visitor.
@Suite(
  .beans(declareShop) {
    $0.override(ErrorLog.self) { (errors: WrittenErrors) in ErrorLog(write: errors.write) }
  })
final class HandlerTests {
  private let shop: ShopEnvironment
  private let session: Environment
  private let store: SQLiteStore
  private let cart: Cart
  private let profile: VisitorProfile
  private let unexpected: WrittenErrors

  init() throws {
    let application = try Test.environment
    shop = try application.getBean(ShopEnvironment.self)
    session = try shop.visits.build(SessionState())
    store = try application.getBean(SQLiteStore.self)
    cart = try session.getBean(Cart.self)
    profile = try session.getBean(VisitorProfile.self)
    unexpected = try application.getBean(WrittenErrors.self)
  }

  deinit { session.finish() }

  /// Runs one request as the server does, in an environment of its own that ends with it.
  private func answer(_ route: ShopRoute, _ request: HTTPRequest) throws -> HTTPResponse {
    let child = try route.needsVisitor ? shop.visitorRequests.build(request, in: session) : shop.requests.build(request)
    defer { child.finish() }
    do {
      return try route.handler(in: child).handle(request)
    } catch {
      return HTTPResponse(failure: error)
    }
  }

  private func checkout(accept: String = "*/*") async throws -> HTTPResponse {
    let purchase = cart.prepareOrder()
    let request = HTTPRequest(method: .post, path: "/", headers: HTTPHeaders([("Accept", accept)]))
    let child = try shop.visitorRequests.build(request, in: session)
    defer { child.finish() }
    do {
      return try await child.getBean(CheckoutHandler.self).place(purchase, request)
    } catch {
      return HTTPResponse(failure: error)
    }
  }

  private func post(_ body: String, accept: String = "*/*") throws -> HTTPResponse {
    let headers = HTTPHeaders([("Content-Type", "application/json"), ("Accept", accept)])
    return try answer(
      .cart, HTTPRequest(method: .post, path: "/api/cart", headers: headers, body: Array(body.utf8)))
  }

  private func orders() throws -> JSONValue {
    try json(answer(.orders, HTTPRequest(method: .get, path: "/api/orders")))
  }

  private func json(_ response: HTTPResponse) throws -> JSONValue { try JSONValue(response.body) }

  @Test func aHandlerListsProducts() throws {
    let response = try answer(.products, HTTPRequest(method: .get, path: "/api/products"))
    guard case .array(let products) = try json(response) else {
      Issue.record("no array")
      return
    }
    #expect(products.count == 10)
    #expect(products[9]["stock"]?.integer == 12)
    #expect(products[0]["stock"] == nil)
    #expect(products[0]["price_cents"]?.integer == 1490)
  }

  @Test(.overrides { $0.forbid(SQLiteTransaction.self) }) func aHandlerChangesTheCartWithoutTheStore() throws {
    #expect(try json(post(#"{"product":1,"quantity":2}"#))["total_cents"]?.integer == 2980)
    #expect(try json(post(#"{"product":1,"quantity":1,"action":"set"}"#))["pieces"]?.integer == 1)
    #expect(try json(post(#"{"product":1,"action":"remove"}"#))["pieces"]?.integer == 0)
    #expect(try post(#"{"product":77}"#).status == .unprocessableContent)
    #expect(try post(#"{"product":1,"quantity":0}"#).status == .unprocessableContent)
    #expect(try post("nonsense").status == .badRequest)
  }

  @Test func aBrowserIsRedirectedToThePage() async throws {
    #expect(try post(#"{"product":1}"#, accept: "text/html").status == .seeOther)
    #expect(try await checkout(accept: "text/html").status == .seeOther)
    #expect(profile.orders == 1)
  }

  @Test(.overrides { $0.forbid(SQLiteTransaction.self) }) func aHandlerDeletesFromTheCartWithoutTheStore() throws {
    try cart.add(1)
    try cart.add(2)
    func delete(_ query: String?) throws -> HTTPResponse {
      try answer(.cart, HTTPRequest(method: .delete, path: "/api/cart", query: query))
    }
    #expect(try json(delete("product=1"))["pieces"]?.integer == 1)
    #expect(try delete("product=x").status == .unprocessableContent)
    #expect(try json(delete(nil))["pieces"]?.integer == 0)
  }

  @Test func aCheckoutTurnsTheCartIntoAnOrder() async throws {
    try cart.add(1, quantity: 2)
    let response = try await checkout()
    #expect(response.status == .created)
    #expect(try json(response)["total_cents"]?.integer == 2980)
    #expect(cart.lines.isEmpty)
    guard case .array(let placed) = try orders() else {
      Issue.record("no array")
      return
    }
    #expect(placed == [try json(response)])
    #expect(store.connections.lent == 0)
  }

  @Test func anEventReportsAPlacedOrder() async throws {
    let sales = try shop.application.getBean(Sales.self)
    #expect(try await checkout().status == .conflict)
    #expect(sales.text() == "orders placed: 0, 0.00 €")
    try cart.add(1, quantity: 2)
    #expect(try await checkout().status == .created)
    #expect(sales.text() == "orders placed: 1, 29.80 €")
    #expect(unexpected.count == 0)
  }

  @Test("An order that is placed already is confirmed, and goods that were added after it are bought by the next one")
  func buysWhatWasAddedAfterAnOrder() async throws {
    try cart.add(1, quantity: 2)
    let purchase = try #require(cart.prepareOrder())
    let visitor = profile.id
    try await shop.application.getBean(WriterQueue.self).write { transaction in
      _ = try OrderRepository(transaction: transaction).place(
        purchase.lines, id: purchase.order, visitor: visitor, at: 1)
    }
    try cart.add(1)
    try cart.add(2)
    let first = try json(await checkout())
    #expect(first["id"]?.string == purchase.order)
    #expect(cart.lines.map(\.product.id) == [1, 2])
    #expect(cart.lines.pieces == 2)
    let second = try json(await checkout())
    #expect(second["id"] != first["id"])
    #expect(cart.isEmpty)
    #expect(profile.orders == 2)
    guard case .array(let placed) = try orders() else {
      Issue.record("no array")
      return
    }
    #expect(placed.count == 2)
    // The news of the first one is that of the request that has placed it.
    let sales = try shop.application.getBean(Sales.self)
    #expect(sales.text().hasPrefix("orders placed: 1,"))
  }

  @Test(.beans(declareShopWithAFailingListener)) func anOrderIsKeptAfterAListenerFails() async throws {
    try cart.add(1)
    #expect(try await checkout().status == .created)
    #expect(unexpected.count == 1)
  }

  @Test func aCheckoutRefusesAnEmptyCart() async throws {
    #expect(try await checkout().status == .conflict)
    #expect(try orders() == .array([]))
    #expect(profile.orders == 0)
  }

  @Test func aCheckoutKeepsTheCartWhenAProductIsSoldOut() async throws {
    try cart.add(8, quantity: 1)
    try cart.add(10, quantity: 13)
    let response = try await checkout()
    #expect(response.status == .conflict)
    #expect(try json(response)["error"]?.string == "There is not enough of “Geisha, Lot 7” left.")
    #expect(cart.lines.pieces == 14)
    #expect(try orders() == .array([]))
    try cart.set(10, quantity: 12)
    #expect(try await checkout().status == .created)
  }

  @Test func aCheckoutKeepsTheCartWhileTheStoreIsBusy() async throws {
    try cart.add(1)
    let other = try shop.application.getBean(TemporaryDatabase.self).connect()
    try other.execute("BEGIN IMMEDIATE")
    #expect(try await checkout().status == .serviceUnavailable)
    #expect(cart.lines.pieces == 1)
    try other.execute("ROLLBACK")
    #expect(try await checkout().status == .created)
  }

  @Test func theHealthReportsTheStateOfTheStore() async throws {
    func health(_ handler: HealthHandler, _ time: MonotonicTime) -> HTTPStatus {
      do { return try handler.answer(at: time).status } catch { return error.status }
    }
    let handler = try shop.application.getBean(HealthHandler.self)
    let (time, later) = (MonotonicTime.now, MonotonicTime.now + HealthHandler.period)
    #expect(health(handler, time) == .ok)
    let writers = try shop.application.getBean(WriterQueue.self)
    // Behind the write of the check.
    try await writers.write { _ in }
    #expect(store.connections.lent == 0)
    store.close()
    // The last result of the store is valid for a while.
    #expect(health(handler, time) == .ok)
    #expect(health(handler, later) == .serviceUnavailable)
    #expect(health(handler, later) == .serviceUnavailable)
    #expect(unexpected.count == 1)
    #expect(
      health(HealthHandler(store: store, writers: writers, errors: ErrorLog { _ in }), time) == .serviceUnavailable)
  }

  @Test func aResponseHidesUnexpectedErrors() throws {
    struct Secret: Error {}
    #expect(HTTPResponse(failure: Secret()).status == .internalServerError)
    let error = SQLiteError(code: 11, message: "malformed", operation: "SELECT secret")
    let text = String(decoding: HTTPResponse(failure: error).body, as: UTF8.self)
    #expect(!text.contains("secret"))
  }

  @Test func aHandlerShowsThePage() throws {
    try cart.add(2, quantity: 3)
    let response = try answer(.page, HTTPRequest(method: .get, path: "/"))
    let html = String(decoding: response.body, as: UTF8.self)
    let fields = String(decoding: response.fieldLines, as: UTF8.self)
    #expect(html.contains("House Espresso"))
    #expect(html.contains("35.70&nbsp;€"))
    let nonce = try #require(fields.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)).1
    #expect(html.contains("<script nonce=\"\(nonce)\">"))
    #expect(html.contains("<style nonce=\"\(nonce)\">"))
    #expect(store.connections.lent == 0)
  }

  @Test func aHandlerShowsLiveEnvironments() throws {
    let response = try answer(.environments, HTTPRequest(method: .get, path: "/environments"))
    let text = String(decoding: response.body, as: UTF8.self)
    #expect(text.hasPrefix("orders placed: 0, 0.00 €\n"))
    // The visitor's session, and this request.
    #expect(text.contains("session: 1 live, ") && text.contains("request: 1 live, "))
  }
}
