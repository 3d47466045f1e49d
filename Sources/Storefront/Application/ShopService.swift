import Beans
import BeansServer

/// Answers requests: one child environment each, inside the visitor's session where there is one.
final class ShopService: Sendable {
  private let shop: ShopEnvironment
  private let sessions: SessionRegistry<SessionSeed>
  private let ids: IdGenerator
  private let health: HealthHandler
  private let log: AccessLog

  /// Starts the application environment.
  init(_ shop: ShopEnvironment) throws {
    self.shop = shop
    try shop.application.startup()
    sessions = SessionRegistry(shop.sessions)
    ids = try shop.application.getBean(IdGenerator.self)
    health = try shop.application.getBean(HealthHandler.self)
    log = try shop.application.getBean(AccessLog.self)
  }

  /// What the server is to call: this, with `ProductsByHand` in front where the configuration asks for it.
  func handler(_ configuration: Configuration) throws -> HTTPHandler {
    configuration.byHand ? try ProductsByHand(self, shop.application).handle : handle
  }

  /// Answers one exchange on its loop's thread.
  func handle(_ exchange: HTTPExchange) {
    let request = exchange.request
    do {
      switch ShopRoute.router.match(request.method, request.path) {
      case .found(.health): exchange.respond(checkHealth(request))
      case .found(let route): exchange.respond(try answer(request, route))
      case let refused: try answer(refused, request).map { _ = exchange.respond($0) }
      }
    } catch {
      exchange.respond(HTTPResponse(failure: error))
    }
  }

  /// A path or method that nobody serves gets its line in the log, too.
  private func answer(_ refused: Router<ShopRoute>.Match, _ request: HTTPRequest) throws -> HTTPResponse? {
    let child = try shop.requests.build(request)
    defer { child.finish() }
    let response = try Router<ShopRoute>.refusal(refused)
    try child.getBean(RequestLog.self).status = response?.status
    return response
  }

  /// Asked for all the time, and the same for everybody: no environment is opened for it.
  private func checkHealth(_ request: HTTPRequest) -> HTTPResponse {
    let begun = MonotonicTime.now
    let response: HTTPResponse
    do {
      response = try health.answer(at: begun)
    } catch {
      response = HTTPResponse(error)
    }
    log.record(request, status: response.status, took: MonotonicTime.now.since(begun))
    return response
  }

  private func answer(_ request: HTTPRequest, _ route: ShopRoute) throws -> HTTPResponse {
    if !route.needsVisitor { return try answer(request, route, in: shop.requests.build(request)) }
    if let sid = request.cookie("sid"), let session = sessions.find(sid),
      let child = try? shop.visitorRequests.build(request, in: session)
    {
      return try answer(request, route, in: child)
    }
    // No session, or one that ended between being found and being entered.
    let sid = ids.next()
    let session = try sessions.open(sid, SessionSeed(id: sid))
    var response = try answer(request, route, in: shop.visitorRequests.build(request, in: session))
    response.addCookie(try HTTPCookie(name: "sid", value: sid))
    return response
  }

  private func answer(_ request: HTTPRequest, _ route: ShopRoute, in child: Environment) throws -> HTTPResponse {
    // Rolls back what has not been committed, and writes the log line.
    defer { child.finish() }
    let log = try child.getBean(RequestLog.self)
    do {
      let response = try route.handler(in: child).handle(request)
      log.status = response.status
      return response
    } catch {
      let response = HTTPResponse(failure: error)
      log.status = response.status
      return response
    }
  }
}

extension ShopRoute {
  /// Whether the handler knows a visitor, so that the request belongs into a session.
  var needsVisitor: Bool {
    switch self {
    case .page, .cart, .checkout, .orders: true
    case .products, .health, .environments: false
    }
  }

  /// The handler, built by the request's environment with all it needs.
  func handler(in environment: Environment) throws -> any RequestHandler {
    switch self {
    case .page: try environment.getBean(PageHandler.self)
    case .products: try environment.getBean(ProductsHandler.self)
    case .cart: try environment.getBean(CartHandler.self)
    case .checkout: try environment.getBean(CheckoutHandler.self)
    case .orders: try environment.getBean(OrdersHandler.self)
    case .health: try environment.getBean(HealthHandler.self)
    case .environments: try environment.getBean(EnvironmentsHandler.self)
    }
  }
}
