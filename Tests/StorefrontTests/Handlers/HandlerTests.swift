import Beans
@_spi(BeansPackage) import BeansSupport
import Testing

@testable import Storefront

/// The handlers with their collaborators built by hand.
@Suite struct HandlerTests {
  private let database: TemporaryDatabase
  private let store: SQLiteStore
  private let catalogue: Catalogue
  private let cart: Cart
  private let ids = IdGenerator()
  private let profile: VisitorProfile
  /// Where orders are published.
  private let environment: Environment
  private let unexpected = Lines()

  /// What the log of errors has written.
  private final class Lines: Sendable {
    private let lines = Locked<[String]>([])
    var count: Int { lines.withLock { $0.count } }
    func write(_ line: String) { lines.withLock { $0.append(line) } }
  }

  init() throws {
    database = try TemporaryDatabase()
    store = try database.shop(busyTimeout: .milliseconds(1))
    catalogue = try Catalogue(store: store)
    cart = Cart(catalogue: catalogue)
    profile = VisitorProfile(ids: ids)
    environment = try Environment(name: "request")
  }

  /// Runs one request as the server does: a transaction of its own that ends with it.
  private func answer(
    _ request: HTTPRequest, _ handler: (SQLiteTransaction, CurrentVisitor) -> any RequestHandler
  ) throws -> HTTPResponse {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    do {
      return try handler(transaction, CurrentVisitor(profile: profile)).handle(request)
    } catch {
      return HTTPResponse(failure: error)
    }
  }

  private func checkout(accept: String = "*/*") throws -> HTTPResponse {
    let errors = ErrorLog(write: unexpected.write)
    return try answer(HTTPRequest(method: .post, path: "/", headers: HTTPHeaders([("Accept", accept)]))) {
      CheckoutHandler(
        cart: cart, orders: OrderRepository(transaction: $0), transaction: $0, ids: ids, visitor: $1,
        environment: environment, errors: errors)
    }
  }

  private func post(_ body: String, accept: String = "*/*") throws -> HTTPResponse {
    let headers = HTTPHeaders([("Content-Type", "application/json"), ("Accept", accept)])
    return try answer(HTTPRequest(method: .post, path: "/api/cart", headers: headers, body: Array(body.utf8))) { _, _ in
      CartHandler(cart: cart)
    }
  }

  private func orders() throws -> JSONValue {
    try json(
      answer(HTTPRequest(method: .get, path: "/api/orders")) {
        OrdersHandler(orders: OrderRepository(transaction: $0), visitor: $1)
      })
  }

  private func json(_ response: HTTPResponse) throws -> JSONValue { try JSONValue(response.body) }

  @Test func listsProducts() throws {
    let response = try answer(HTTPRequest(method: .get, path: "/api/products")) { transaction, _ in
      ProductsHandler(catalogue: catalogue, orders: OrderRepository(transaction: transaction))
    }
    guard case .array(let products) = try json(response) else {
      Issue.record("no array")
      return
    }
    #expect(products.count == 10)
    #expect(products[9]["stock"]?.integer == 12)
    #expect(products[0]["stock"] == nil)
    #expect(products[0]["price_cents"]?.integer == 1490)
  }

  @Test func changesTheCart() throws {
    #expect(try json(post(#"{"product":1,"quantity":2}"#))["total_cents"]?.integer == 2980)
    #expect(try json(post(#"{"product":1,"quantity":1,"action":"set"}"#))["pieces"]?.integer == 1)
    #expect(try json(post(#"{"product":1,"action":"remove"}"#))["pieces"]?.integer == 0)
    #expect(try post(#"{"product":77}"#).status == .unprocessableContent)
    #expect(try post(#"{"product":1,"quantity":0}"#).status == .unprocessableContent)
    #expect(try post("nonsense").status == .badRequest)
  }

  @Test func leadsABrowserBackToThePage() throws {
    #expect(try post(#"{"product":1}"#, accept: "text/html").status == .seeOther)
    #expect(try checkout(accept: "text/html").status == .seeOther)
    #expect(profile.orders == 1)
  }

  @Test func deletesFromTheCart() throws {
    try cart.add(1)
    try cart.add(2)
    func delete(_ query: String?) throws -> HTTPResponse {
      try answer(HTTPRequest(method: .delete, path: "/api/cart", query: query)) { _, _ in CartHandler(cart: cart) }
    }
    #expect(try json(delete("product=1"))["pieces"]?.integer == 1)
    #expect(try delete("product=x").status == .unprocessableContent)
    #expect(try json(delete(nil))["pieces"]?.integer == 0)
  }

  @Test func turnsTheCartIntoAnOrder() throws {
    try cart.add(1, quantity: 2)
    let response = try checkout()
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

  @Test func tellsOfAnOrderThatIsPlaced() throws {
    try environment.define(environment.bean(Sales.self, factory: { Sales() }))
    let sales = try environment.getBean(Sales.self)
    #expect(try checkout().status == .conflict)
    #expect(sales.text() == "orders placed: 0, 0.00 €")
    try cart.add(1, quantity: 2)
    #expect(try checkout().status == .created)
    #expect(sales.text() == "orders placed: 1, 29.80 €")
    #expect(unexpected.count == 0)
  }

  @Test func keepsAnOrderWhoseNewsNobodyCanHear() throws {
    struct Deaf: Error {}
    try environment.define(environment.bean(7).listens { (_, _: OrderPlaced) in throw Deaf() })
    try cart.add(1)
    #expect(try checkout().status == .created)
    #expect(unexpected.count == 1)
  }

  @Test func refusesAnEmptyCart() throws {
    #expect(try checkout().status == .conflict)
    #expect(try orders() == .array([]))
    #expect(profile.orders == 0)
  }

  @Test func keepsTheCartWhenSomethingIsSoldOut() throws {
    try cart.add(8, quantity: 1)
    try cart.add(10, quantity: 13)
    let response = try checkout()
    #expect(response.status == .conflict)
    #expect(try json(response)["error"]?.string == "There is not enough of “Geisha, Lot 7” left.")
    #expect(cart.lines.pieces == 14)
    #expect(try orders() == .array([]))
    try cart.set(10, quantity: 12)
    #expect(try checkout().status == .created)
  }

  @Test func keepsTheCartWhileTheStoreIsBusy() throws {
    try cart.add(1)
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    #expect(try checkout().status == .serviceUnavailable)
    #expect(cart.lines.pieces == 1)
    try other.execute("ROLLBACK")
    #expect(try checkout().status == .created)
  }

  @Test func tellsWhetherTheStoreAnswers() throws {
    func health(_ handler: HealthHandler, _ time: MonotonicTime) -> HTTPStatus {
      do { return try handler.answer(at: time).status } catch { return error.status }
    }
    let handler = HealthHandler(store: store, errors: ErrorLog { _ in })
    let (time, later) = (MonotonicTime.now, MonotonicTime.now + HealthHandler.period)
    #expect(health(handler, time) == .ok)
    #expect(store.connections.lent == 0)
    store.close()
    // What the store has answered counts for a while.
    #expect(health(handler, time) == .ok)
    #expect(health(handler, later) == .serviceUnavailable)
    #expect(health(handler, later) == .serviceUnavailable)
    #expect(health(HealthHandler(store: store, errors: ErrorLog { _ in }), time) == .serviceUnavailable)
  }

  @Test func tellsNothingOfUnexpectedErrors() throws {
    struct Secret: Error {}
    #expect(HTTPResponse(failure: Secret()).status == .internalServerError)
    let error = SQLiteError(code: 11, message: "malformed", operation: "SELECT secret")
    let text = String(decoding: HTTPResponse(failure: error).body, as: UTF8.self)
    #expect(!text.contains("secret"))
  }

  @Test func showsThePage() throws {
    try cart.add(2, quantity: 3)
    let page = StorefrontPage(catalogue: catalogue)
    let response = try answer(HTTPRequest(method: .get, path: "/")) {
      PageHandler(page: page, cart: cart, orders: OrderRepository(transaction: $0), ids: ids, visitor: $1)
    }
    let html = String(decoding: response.body, as: UTF8.self)
    let fields = String(decoding: response.fieldLines, as: UTF8.self)
    #expect(html.contains("House Espresso"))
    #expect(html.contains("35.70&nbsp;€"))
    let nonce = try #require(fields.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)).1
    #expect(html.contains("<script nonce=\"\(nonce)\">"))
    #expect(html.contains("<style nonce=\"\(nonce)\">"))
    #expect(store.connections.lent == 0)
  }

  @Test func countsTheVisitorsRequests() throws {
    _ = try orders()
    _ = try orders()
    #expect(profile.requests == 2)
  }

  @Test func showsWhatIsAlive() throws {
    final class Report: LiveReport { func text() -> String { "application\n" } }
    let response = try EnvironmentsHandler(report: Report()).handle(HTTPRequest(method: .get, path: "/environments"))
    #expect(response.body == Array("application\n".utf8))
  }
}
