import Beans
import Glibc

/// The handler of `POST /api/checkout`: turns the cart into an order. Responds `201` with the order; a browser that
/// sent a form is redirected to the page.
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

  /// Places the order that `Cart.prepareOrder()` has returned, after the session has been saved with its id.
  ///
  /// Suspends while the order waits for its turn, and for the disk. An existing order is returned unchanged.
  ///
  /// - Parameters:
  ///   - purchase: the order's goods and id; nil for an empty cart.
  ///   - request: selects the form of the response.
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
      // The order is placed, even if publishing the event fails.
      do { try environment.publish(OrderPlaced(order: order)) } catch { errors.record(error, request) }
    }
    if request.acceptsHTML { return .seeOther("/") }
    var json = JSONWriter()
    json.order(order)
    return .json(.created, json.bytes)
  }
}
