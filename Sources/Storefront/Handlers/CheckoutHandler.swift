import Beans
import Glibc

/// `POST /api/checkout`: turns the cart into an order. Returns `201` with it; a browser that sent a form is led back to the page.
final class CheckoutHandler {
  private let writers: WriterQueue
  private let visitor: CurrentVisitor
  private let environment: Environment
  private let errors: ErrorLog

  init(writers: WriterQueue, visitor: CurrentVisitor, environment: Environment, errors: ErrorLog) {
    self.writers = writers
    self.visitor = visitor
    self.environment = environment
    self.errors = errors
  }

  /// Places the order that `Cart.prepareOrder()` has returned, and that the session has been saved with.
  ///
  /// Suspends while the order waits for its turn, and for the disk. An order that is there already is returned as it is.
  ///
  /// - Parameters:
  ///   - purchase: the order's goods and id; nil for an empty cart.
  ///   - request: decides the form of the response.
  /// - Throws: `ShopError`, `WriterQueue.Refused` or `SQLiteError`; no order has been placed then.
  nonisolated(nonsending) func place(
    _ purchase: Cart.Purchase?, _ request: HTTPRequest
  ) async throws -> HTTPResponse {
    guard let purchase else { throw ShopError.emptyCart }
    let (visitorId, now) = (visitor.profile.id, Int64(time(nil)))
    let (order, isNew) = try await writers.write { transaction in
      try OrderRepository(transaction: transaction).place(
        purchase.lines, id: purchase.order, visitor: visitorId, at: now)
    }
    visitor.settle(order)
    if isNew {
      // Whatever becomes of the news, the order is placed.
      do { try environment.publish(OrderPlaced(order: order)) } catch { errors.record(error, request) }
    }
    if request.acceptsHTML { return .seeOther("/") }
    var json = JSONWriter()
    json.order(order)
    return .json(.created, json.bytes)
  }
}
