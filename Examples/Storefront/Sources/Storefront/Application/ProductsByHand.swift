import Beans
import BeansOperations

/// The handler of `GET /by-hand/api/products`: does the work of `GET /api/products`, with the request's objects wired
/// by hand instead of by a request environment. For `scripts/bench-http`, and served only with `BY_HAND=yes`.
final class ProductsByHand: Sendable {
  private static let path = "/by-hand/api/products"

  private let service: ShopService
  private let store: SQLiteStore
  private let catalogue: Catalogue
  private let log: AccessLog
  private let errors: ErrorLog

  /// Creates the handler, which passes every other path to `service`.
  init(service: ShopService, store: SQLiteStore, catalogue: Catalogue, log: AccessLog, errors: ErrorLog) {
    (self.service, self.store, self.catalogue) = (service, store, catalogue)
    (self.log, self.errors) = (log, errors)
  }

  /// Returns the handler for the server.
  func handler(_ operations: Operations) -> HTTPHandler {
    let others = service.handler(operations)
    return { [self] in handle($0, others) }
  }

  /// Responds to one exchange on its loop's thread.
  private func handle(_ exchange: HTTPExchange, _ others: HTTPHandler) {
    let request = exchange.request
    guard request.path == Self.path else { return others(exchange) }
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
