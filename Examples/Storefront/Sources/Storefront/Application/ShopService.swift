import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions

/// A service that handles requests: one child environment each, inside the visitor's session if there is one.
///
/// A visitor without a session gets one for the time of the request. The session is kept, with a cookie, if the request
/// has put goods into the cart. A checkout suspends while `WriterQueue` writes the order, and its loop serves other
/// requests meanwhile. If nodes share sessions, a request suspends until its session is loaded, and the response is
/// sent after its changes are saved.
final class ShopService: Sendable {
  /// The maximum number of attempts at a request whose session another node changes at the same time.
  private static let maximumAttempts = 10

  private let requests: EnvironmentFactory<HTTPRequest>
  private let visitorRequests: EnvironmentFactory<HTTPRequest>
  private let sessions: Sessions<SessionState>
  private let health: HealthHandler
  private let log: AccessLog
  private let errors: ErrorLog
  private let isSecure: Bool
  private let cookieName: String

  /// - Parameters:
  ///   - requests: opens requests that need no session.
  ///   - visitorRequests: opens requests inside of sessions.
  ///   - sessions: the sessions with goods in the cart, local to this process or in a store that all nodes share.
  ///   - health: responds to the checks of a load balancer.
  ///   - log: the log of responses.
  ///   - errors: the log of failures.
  ///   - configuration: the settings of the service.
  init(
    requests: EnvironmentFactory<HTTPRequest>,
    visitorRequests: Qualified<InsideSession, EnvironmentFactory<HTTPRequest>>,
    sessions: Sessions<SessionState>, health: HealthHandler, log: AccessLog, errors: ErrorLog,
    configuration: Configuration
  ) {
    (self.requests, self.visitorRequests, self.sessions) = (requests, visitorRequests.value, sessions)
    (self.health, self.log, self.errors) = (health, log, errors)
    isSecure = configuration.secureCookies
    cookieName = isSecure ? "__Host-sid" : "sid"
  }

  /// Returns the handler for the public server.
  func handler(_ operations: Operations) -> HTTPHandler {
    { [self] in handle($0, ShopRoute.router, operations) }
  }

  /// Returns the handler for the server of the operators.
  func administration(_ operations: Operations) -> HTTPHandler { { [self] in handleAdministration($0, operations) } }

  /// Records that a handler has dropped a request without a response.
  func noteUnanswered(_ request: HTTPRequest) { errors.record(HTTPExchange.unanswered, request) }

  private func handleAdministration(_ exchange: HTTPExchange, _ operations: Operations) {
    let request = exchange.request
    if !request.namesThisMachine {
      exchange.respond(
        HTTPResponse(HTTPError(.misdirectedRequest, "This port serves requests to this machine only.")))
      return
    }
    // As text, the live environments follow the sales.
    let isOfShop = request.path == "/environments" && request.headers["Accept"]?.contains("json") != true
    // Only pages of this port may change any state, such as the level of a logger.
    let isForeign = request.mayChangeSomething && request.isFromAnotherSite
    let answer = answer(request) {
      isOfShop || isForeign
        ? nil
        : operations.respond(
          method: request.method.name, path: request.path, accept: request.headers["Accept"], body: request.body)
    }
    if let answer { exchange.respond(answer) } else { handle(exchange, ShopRoute.administration, operations) }
  }

  private func handle(_ exchange: HTTPExchange, _ router: Router<ShopRoute>, _ operations: Operations) {
    let request = exchange.request
    do {
      switch router.match(request.method, request.path) {
      case .found(.health): exchange.respond(checkHealth(request))
      case .found(let route):
        if request.mayChangeSomething, request.isFromAnotherSite {
          throw HTTPError(.forbidden, "Only pages of this site may do that.")
        }
        if route == .checkout || route.needsVisitor && sessions.hasStore {
          Task(executorPreference: exchange.loop) { [self] in await answerLater(exchange, route) }
        } else {
          exchange.respond(answer(request, route))
        }
      case let refused:
        let probe = answer(request) { operations.probe(method: request.method.name, path: request.path) }
        try (probe ?? answer(refused, request)).map { _ = exchange.respond($0) }
      }
    } catch {
      exchange.respond(errors.response(to: error, request))
    }
  }

  // MARK: At once

  private func answer(_ request: HTTPRequest, _ route: ShopRoute) -> HTTPResponse {
    do {
      if !route.needsVisitor { return try requests.withChild(request) { try answer(request, route, in: $0) } }
      // A session that has ended, or an invented id, is treated like no session.
      let visit = try sessions.withSession(cookie: request.cookie(cookieName)) { session in
        try answer(request, route, inSession: session.environment)
      }
      guard case .set(let sid) = visit.cookie else { return visit.value }
      var response = visit.value
      response.addCookie(try cookie(sid))
      return response
    } catch {
      return errors.response(to: error, request)
    }
  }

  // MARK: Later

  private func answerLater(_ exchange: HTTPExchange, _ route: ShopRoute) async {
    let request = exchange.request
    do {
      exchange.respond(
        route == .checkout ? try await checkOut(request) : try await answerInSession(request, route))
    } catch {
      exchange.respond(errors.response(to: error, request))
    }
  }

  /// Responds to a request that is no checkout.
  ///
  /// A checkout that has to be completed is saved first, and alone. If it were saved with the change of the request,
  /// another request could save the first of both, and the outcome of the request would be unknown when the second one
  /// is refused.
  private func answerInSession(_ request: HTTPRequest, _ route: ShopRoute) async throws -> HTTPResponse {
    for _ in 0..<Self.maximumAttempts {
      var hasSettled = false
      do {
        let (response, cookie) = try await inSession(request) { session -> (HTTPResponse?, rotates: Bool) in
          hasSettled = try settle(request, in: session)
          if hasSettled { return (nil, rotates: false) }
          return (try answer(request, route, inSession: session), rotates: false)
        }
        guard var response else { continue }
        if let cookie { response.addCookie(cookie) }
        return response
      } catch SessionError.outcomeUnknown where hasSettled {
        // Settling once more changes nothing if the outcome was a success.
      }
    }
    throw SessionError.conflict(["cart"])
  }

  /// Turns the visitor's cart into an order, in three steps: the session keeps the id of the order; the database
  /// commits the order; the session drops the ordered goods.
  ///
  /// The commit decides. Before it nothing has happened, and the response is `4xx` or `5xx`; after it the response is
  /// `201`. If the third step fails, or the process ends before it, the next request with the session does it: see
  /// `settle`.
  private func checkOut(_ request: HTTPRequest) async throws -> HTTPResponse {
    for _ in 0..<Self.maximumAttempts {
      let purchase = try await inSession(request) { session in
        (try session.getBean(Cart.self).prepareOrder(), rotates: false)
      }.value
      var placed: HTTPResponse?
      do {
        let (response, cookie) = try await inSession(request) { session -> (HTTPResponse?, rotates: Bool) in
          // Another node has changed the session since the commit.
          if let placed {
            _ = try settle(request, in: session)
            return (placed, rotates: true)
          }
          // Another request may have placed the order since, and left another cart.
          guard try session.getBean(Cart.self).order == purchase?.order else { return (nil, rotates: false) }
          let response = try await place(purchase, request, in: session)
          if response.isSuccess { placed = response }
          // A session id that an attacker has learnt or planted before is useless from now on.
          return (response, rotates: response.isSuccess)
        }
        guard var response else { continue }
        if let cookie { response.addCookie(cookie) }
        return response
      } catch {
        guard let placed else { throw error }
        errors.record(error, request)
        return placed
      }
    }
    throw SessionError.conflict(["cart"])
  }

  private func place(
    _ purchase: Cart.Purchase?, _ request: HTTPRequest, in session: Environment
  ) async throws -> HTTPResponse {
    try await visitorRequests.withChild(request, in: session) { child in
      let log = try child.getBean(RequestLog.self)
      let response: HTTPResponse
      do {
        response = try await child.getBean(CheckoutHandler.self).place(purchase, request)
      } catch {
        response = errors.response(to: error, request)
      }
      log.status = response.status
      return response
    }
  }

  /// Completes a checkout whose order has been placed and whose session could not be saved after that, if there is one.
  /// The id of the session stays: the checkout may be in flight on another node, and changes the id.
  ///
  /// - Returns: whether there was one.
  private func settle(_ request: HTTPRequest, in session: Environment) throws -> Bool {
    guard let id = try session.getBean(Cart.self).order else { return false }
    return try visitorRequests.withChild(request, in: session) { child in
      let visitor = try child.getBean(CurrentVisitor.self)
      guard let order = try child.getBean(OrderRepository.self).order(id, of: visitor.profile.id) else { return false }
      visitor.settle(order)
      return true
    }
  }

  /// Runs `body` in the visitor's session, or in one for the time of the request, and saves its changes. If two
  /// checkouts of one visitor meet, the first one changes the id, and its response has the cookie. Runs `body` again if
  /// another node changes the session at the same time: none of the changes has been saved then.
  ///
  /// - Parameters:
  ///   - request: contains the cookie, or none.
  ///   - body: returns a value, and whether the session gets another id.
  /// - Returns: the value, and the cookie if it changes.
  private func inSession<R>(
    _ request: HTTPRequest, _ body: (Environment) async throws -> (R, rotates: Bool)
  ) async throws -> (value: R, cookie: HTTPCookie?) {
    var attempts = 1
    while true {
      do {
        let answer = try await sessions.withSession(cookie: request.cookie(cookieName)) { session in
          let (value, rotates) = try await body(session.environment)
          if rotates { session.rotate() }
          return value
        }
        guard case .set(let sid) = answer.cookie else { return (answer.value, nil) }
        return (answer.value, try cookie(sid))
      } catch SessionError.conflict where attempts < Self.maximumAttempts {
        attempts += 1
      }
    }
  }

  private func cookie(_ sid: String) throws -> HTTPCookie {
    try HTTPCookie(name: cookieName, value: sid, isSecure: isSecure)
  }

  // MARK: One request

  private func answer(
    _ request: HTTPRequest, _ route: ShopRoute, inSession session: Environment
  ) throws -> HTTPResponse {
    try visitorRequests.withChild(request, in: session) { try answer(request, route, in: $0) }
  }

  /// Responds in the environment of a request, whose end rolls back uncommitted changes and writes the log line. Each
  /// line of the log that is written inside carries the id of the request.
  private func answer(_ request: HTTPRequest, _ route: ShopRoute, in child: Environment) throws -> HTTPResponse {
    let log = try child.getBean(RequestLog.self)
    let response: HTTPResponse
    do {
      response = try route.handler(in: child).handle(request)
    } catch {
      response = errors.response(to: error, request)
    }
    log.status = response.status
    return response
  }

  /// Responds to an unknown path or method, and writes its line of the log, too.
  private func answer(_ refused: Router<ShopRoute>.Match, _ request: HTTPRequest) throws -> HTTPResponse? {
    try requests.withChild(request) { child in
      let response = try Router<ShopRoute>.refusal(refused)
      try child.getBean(RequestLog.self).status = response?.status
      return response
    }
  }

  /// Responds with the result of an operation, without an environment; returns nil if the operation has none.
  private func answer(_ request: HTTPRequest, _ operation: () -> OperationsResponse?) -> HTTPResponse? {
    let begun = MonotonicTime.now
    guard let answer = operation() else { return nil }
    let response: HTTPResponse
    do { response = try HTTPResponse(answer) } catch { response = errors.response(to: error, request) }
    log.record(request, status: response.status, took: MonotonicTime.now.since(begun))
    return response
  }

  /// Checks the health without an environment: the request is frequent, and the response is the same for all clients.
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
}

extension ShopRoute {
  /// Whether the handler needs a visitor, so that the request belongs to a session.
  var needsVisitor: Bool {
    switch self {
    case .page, .cart, .checkout, .orders: true
    case .products, .health, .environments: false
    }
  }

  /// Returns the handler of a route with an immediate response. The request's environment builds it with all
  /// dependencies.
  func handler(in environment: Environment) throws -> any RequestHandler {
    switch self {
    case .page: try environment.getBean(PageHandler.self)
    case .products: try environment.getBean(ProductsHandler.self)
    case .cart: try environment.getBean(CartHandler.self)
    // Suspends, so it takes another path.
    case .checkout: throw HTTPExchange.unanswered
    case .orders: try environment.getBean(OrdersHandler.self)
    case .health: try environment.getBean(HealthHandler.self)
    case .environments: try environment.getBean(EnvironmentsHandler.self)
    }
  }
}

extension HTTPResponse {
  fileprivate init(_ answer: OperationsResponse) throws(HTTPError) {
    self.init(HTTPStatus(rawValue: answer.status) ?? .internalServerError, body: answer.body)
    try addField("Content-Type", answer.contentType)
    for (name, value) in answer.headers { try addField(name, value) }
  }
}
