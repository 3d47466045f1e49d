import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import Synchronization

/// Answers requests: one child environment each, inside the visitor's session where there is one.
///
/// Whoever has none gets a session for the time of the request, which is kept, with a cookie, when something has been put into
/// it. Requests that write take turns. One that finds the store locked by another process is begun anew a little later, up to a
/// time; meanwhile its loop serves others. Where nodes share sessions, a request waits for its session without blocking its loop,
/// and is answered when what it has changed is saved.
final class ShopService: Sendable {
  /// How many requests may wait for a locked store at one time; not more than one of them writes.
  private static let maximumWaiting = 1_000
  /// How often a request is begun whose session another node changes at the same time.
  private static let maximumAttempts = 10
  private static let tooManyWriters = HTTPError(.serviceUnavailable, "The store is busy. Try again.", retryAfter: 1)
  /// How soon a request is begun anew: at first, and at most.
  private static let pauses = (first: Duration.milliseconds(1), last: Duration.milliseconds(50))

  private let shop: ShopEnvironment
  private let operations: Operations
  private let configuration: Configuration
  private let cookieName: String
  private let sessions: SessionRegistry<SessionState>
  private let sharedSessions: SessionManager?
  private let health: HealthHandler
  private let log: AccessLog
  private let errors: ErrorLog
  private let writers: WriterQueue
  private let waiting = Atomic(0)

  /// Nothing is waited for here: the application is ready.
  init(_ shop: ShopEnvironment, _ operations: Operations, _ configuration: Configuration) throws {
    self.shop = shop
    self.operations = operations
    self.configuration = configuration
    cookieName = configuration.secureCookies ? "__Host-sid" : "sid"
    sessions = shop.sessions
    sharedSessions = shop.sharedSessions
    health = try shop.application.getBean(HealthHandler.self)
    log = try shop.application.getBean(AccessLog.self)
    errors = try shop.application.getBean(ErrorLog.self)
    writers = try shop.application.getBean(WriterQueue.self)
  }

  /// What the server is to call: this, with `ProductsByHand` in front where the configuration asks for it.
  func handler() throws -> HTTPHandler {
    configuration.byHand ? try ProductsByHand(self, shop.application).handle : handle
  }

  /// Answers one exchange on its loop's thread.
  func handle(_ exchange: HTTPExchange) { handle(exchange, ShopRoute.router) }

  /// Notes that a handler has let go of a request without an answer.
  func noteUnanswered(_ request: HTTPRequest) { errors.record(HTTPExchange.unanswered, request) }

  /// Answers those who run the service.
  func handleAdministration(_ exchange: HTTPExchange) {
    let request = exchange.request
    if !request.namesThisMachine {
      exchange.respond(
        HTTPResponse(HTTPError(.misdirectedRequest, "This port answers requests to this machine alone.")))
      return
    }
    // As text, what is alive stands behind what has been sold.
    let isOfShop = request.path == "/environments" && request.headers["Accept"]?.contains("json") != true
    // Only pages of this port may change anything, such as the level of a logger.
    let isForeign = request.mayChangeSomething && request.isFromAnotherSite
    let answer = answer(request) {
      isOfShop || isForeign
        ? nil
        : operations.respond(
          method: request.method.name, path: request.path, accept: request.headers["Accept"], body: request.body)
    }
    if let answer { exchange.respond(answer) } else { handle(exchange, ShopRoute.administration) }
  }

  private func handle(_ exchange: HTTPExchange, _ router: Router<ShopRoute>) {
    let request = exchange.request
    do {
      switch router.match(request.method, request.path) {
      case .found(.health): exchange.respond(checkHealth(request))
      case .found(let route):
        if request.mayChangeSomething, request.isFromAnotherSite {
          throw HTTPError(.forbidden, "Only pages of this site may do that.")
        }
        let wait = Wait(until: .now + configuration.storeWait, pause: Self.pauses.first)
        if route.needsVisitor, let sharedSessions {
          Task(executorPreference: exchange.loop) { [self] in await answer(exchange, route, wait, sharedSessions) }
        } else if !route.writes {
          answer(exchange, route, wait)
        } else if !writers.enter(on: exchange.loop, { [self] in answer(exchange, route, wait) }) {
          throw Self.tooManyWriters
        }
      case let refused:
        let probe = answer(request) { operations.probe(method: request.method.name, path: request.path) }
        try (probe ?? answer(refused, request)).map { _ = exchange.respond($0) }
      }
    } catch {
      exchange.respond(errors.response(to: error, request))
    }
  }

  // MARK: While the store is locked

  /// How long a request is still begun anew, and how soon.
  private struct Wait {
    let until: MonotonicTime
    let pause: Duration

    /// After another attempt.
    var next: Wait { Wait(until: until, pause: min(pause * 2, ShopService.pauses.last)) }
  }

  private func answer(_ exchange: HTTPExchange, _ route: ShopRoute, _ wait: Wait) {
    do {
      respond(exchange, route, try answer(exchange.request, route, isLast: wait.until <= .now))
    } catch {
      // Thrown only by an attempt that is not the last: the store is locked. Who writes keeps the turn.
      guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
        waiting.subtract(1, ordering: .relaxed)
        return respond(exchange, route, errors.response(to: error, exchange.request))
      }
      exchange.loop.schedule(after: wait.pause) { [self] in
        waiting.subtract(1, ordering: .relaxed)
        answer(exchange, route, wait.next)
      }
    }
  }

  private func respond(_ exchange: HTTPExchange, _ route: ShopRoute, _ response: HTTPResponse) {
    if route.writes { writers.leave() }
    exchange.respond(response)
  }

  /// - Throws: `SQLiteError` that tells of a lock, unless this is the last attempt. Nothing has happened then.
  private func answer(_ request: HTTPRequest, _ route: ShopRoute, isLast: Bool) throws(SQLiteError) -> HTTPResponse {
    do {
      if !route.needsVisitor { return try answer(request, route, in: shop.requests.build(request), isLast: isLast) }
      let known = try request.cookie(cookieName).flatMap { sid in
        try sessions.withSession(sid) { try answerVisitor(request, route, sid, in: $0, isLast: isLast) }
      }
      // A session that has ended, or an id that somebody made up, is as none.
      return try known ?? answerStranger(request, route, isLast: isLast)
    } catch {
      if !isLast, let locked = error as? SQLiteError, locked.isBusy { throw locked }
      return errors.response(to: error, request)
    }
  }

  // MARK: Where nodes share sessions

  private func answer(
    _ exchange: HTTPExchange, _ route: ShopRoute, _ wait: Wait, _ sessions: SessionManager
  ) async {
    var attempts = 1
    while true {
      do {
        exchange.respond(try await attempt(exchange, route, wait, sessions))
        return
      } catch SessionError.conflict where attempts < Self.maximumAttempts {
        // Another node has changed the cart meanwhile, and nothing has been saved. A checkout finds the order that it has placed.
        attempts += 1
      } catch {
        exchange.respond(errors.response(to: error, exchange.request))
        return
      }
    }
  }

  private func attempt(
    _ exchange: HTTPExchange, _ route: ShopRoute, _ wait: Wait, _ sessions: SessionManager
  ) async throws -> HTTPResponse {
    let answer = try await sessions.withSession(exchange.request.cookie(cookieName)) { session in
      let response = try await self.takingTurns(exchange, route, wait, in: session.environment)
      // Whoever has learnt or planted the id before sees nothing of what follows.
      if route == .checkout, response.isSuccess { session.rotate() }
      return response
    }
    var response = answer.value
    if case .set(let sid) = answer.cookie { response.addCookie(try cookie(sid)) }
    return response
  }

  /// The turn is taken when the session is there, and given back before it is saved: who writes does not wait for a session.
  private func takingTurns(
    _ exchange: HTTPExchange, _ route: ShopRoute, _ wait: Wait, in session: Environment
  ) async throws -> HTTPResponse {
    if !route.writes { return try await answer(exchange, route, wait, in: session) }
    guard await writers.enter(on: exchange.loop) else { throw Self.tooManyWriters }
    defer { writers.leave() }
    return try await answer(exchange, route, wait, in: session)
  }

  /// In the session, until the store is not locked any more.
  private func answer(
    _ exchange: HTTPExchange, _ route: ShopRoute, _ wait: Wait, in session: Environment
  ) async throws -> HTTPResponse {
    var wait = wait
    while true {
      do {
        return try answer(
          exchange.request, route, in: shop.visitorRequests.build(exchange.request, in: session),
          isLast: wait.until <= .now)
      } catch let error as SQLiteError where error.isBusy && wait.until > .now {
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
          waiting.subtract(1, ordering: .relaxed)
          throw error
        }
        defer { waiting.subtract(1, ordering: .relaxed) }
        try await exchange.loop.sleep(for: wait.pause)
        wait = wait.next
      }
    }
  }

  // MARK: One attempt

  private func answerVisitor(
    _ request: HTTPRequest, _ route: ShopRoute, _ sid: String, in session: Environment, isLast: Bool
  ) throws -> HTTPResponse {
    var response = try answer(
      request, route, in: shop.visitorRequests.build(request, in: session), isLast: isLast)
    // Whoever has learnt or planted the id before sees nothing of what follows. Where two checkouts of one visitor meet, the
    // first one has changed the id, and has the cookie.
    if route == .checkout, response.isSuccess, let next = try? sessions.rotate(sid) {
      response.addCookie(try cookie(next))
    }
    return response
  }

  private func answerStranger(_ request: HTTPRequest, _ route: ShopRoute, isLast: Bool) throws -> HTTPResponse {
    let session = try shop.visits.build(SessionState())
    var isKept = false
    defer { if !isKept { session.finish() } }
    var response = try answer(
      request, route, in: shop.visitorRequests.build(request, in: session), isLast: isLast)
    if try session.getBean(Cart.self).isEmpty { return response }
    response.addCookie(try cookie(try sessions.add(session)))
    isKept = true
    return response
  }

  private func cookie(_ sid: String) throws -> HTTPCookie {
    try HTTPCookie(name: cookieName, value: sid, isSecure: configuration.secureCookies)
  }

  private func answer(
    _ request: HTTPRequest, _ route: ShopRoute, in child: Environment, isLast: Bool
  ) throws -> HTTPResponse {
    // Rolls back what has not been committed, and writes the log line.
    defer { child.finish() }
    let log = try child.getBean(RequestLog.self)
    do {
      let response = try route.handler(in: child).handle(request)
      log.status = response.status
      return response
    } catch {
      if !isLast, let locked = error as? SQLiteError, locked.isBusy {
        log.discard()
        throw locked
      }
      let response = errors.response(to: error, request)
      log.status = response.status
      return response
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

  /// Needs no environment either.
  private func answer(_ request: HTTPRequest, _ operation: () -> OperationsResponse?) -> HTTPResponse? {
    let begun = MonotonicTime.now
    guard let answer = operation() else { return nil }
    let response: HTTPResponse
    do { response = try HTTPResponse(answer) } catch { response = errors.response(to: error, request) }
    log.record(request, status: response.status, took: MonotonicTime.now.since(begun))
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
}

extension ShopRoute {
  /// Whether the handler knows a visitor, so that the request belongs into a session.
  var needsVisitor: Bool {
    switch self {
    case .page, .cart, .checkout, .orders: true
    case .products, .health, .environments: false
    }
  }

  /// Whether the handler writes to the store.
  var writes: Bool { self == .checkout }

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

extension HTTPResponse {
  fileprivate init(_ answer: OperationsResponse) throws(HTTPError) {
    self.init(HTTPStatus(rawValue: answer.status) ?? .internalServerError, body: answer.body)
    try addField("Content-Type", answer.contentType)
    for (name, value) in answer.headers { try addField(name, value) }
  }
}
