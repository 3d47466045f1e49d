import Beans

/// The handler of `GET /by-hand/api/products`: does the work of `GET /api/products`, with the request's objects wired
/// by hand instead of by a request environment. For `scripts/bench-http`, and served only with `BY_HAND=yes`.
final class ProductsByHand: Sendable {
  private static let path = "/by-hand/api/products"

  private let service: ShopService
  private let store: SQLiteStore
  private let catalogue: Catalogue
  private let log: AccessLog
  private let errors: ErrorLog

  /// Creates the handler from a started `application`. Passes every other path to `service`.
  init(_ service: ShopService, _ application: Environment) throws {
    self.service = service
    store = try application.getBean(SQLiteStore.self)
    catalogue = try application.getBean(Catalogue.self)
    log = try application.getBean(AccessLog.self)
    errors = try application.getBean(ErrorLog.self)
  }

  /// Responds to one exchange on its loop's thread.
  func handle(_ exchange: HTTPExchange) {
    let request = exchange.request
    guard request.path == Self.path else { return service.handle(exchange) }
    guard case .found(.products) = ShopRoute.router.match(request.method, "/api/products") else {
      exchange.respond(HTTPResponse(HTTPError(.methodNotAllowed, "The method is not allowed here.")))
      return
    }
    exchange.respond(answer(request))
  }

  private func answer(_ request: HTTPRequest) -> HTTPResponse {
    let log = RequestLog(request: request, log: log)
    let transaction = SQLiteTransaction(store: store)
    defer {
      // Like the container: a failure here does not change the response.
      try? transaction.finish()
      log.finish()
    }
    do {
      let handler = ProductsHandler(catalogue: catalogue, orders: OrderRepository(transaction: transaction))
      let response = try handler.handle(request)
      log.status = response.status
      return response
    } catch {
      let response = errors.response(to: error, request)
      log.status = response.status
      return response
    }
  }
}
