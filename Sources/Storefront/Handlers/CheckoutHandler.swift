import Beans
import Glibc

/// `POST /api/checkout`: turns the cart into an order. Answers `201` with it; a browser that sent a form is led back to the page.
final class CheckoutHandler: RequestHandler {
  private let cart: Cart
  private let orders: OrderRepository
  private let transaction: SQLiteTransaction
  private let visitor: CurrentVisitor
  private let environment: Environment
  private let errors: ErrorLog

  init(
    cart: Cart, orders: OrderRepository, transaction: SQLiteTransaction, visitor: CurrentVisitor,
    environment: Environment, errors: ErrorLog
  ) {
    self.cart = cart
    self.orders = orders
    self.transaction = transaction
    self.visitor = visitor
    self.environment = environment
    self.errors = errors
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    let purchase = cart.take()
    let (order, isNew): (Order, Bool)
    do {
      (order, isNew) = try orders.place(
        purchase.lines, id: purchase.order, visitor: visitor.profile.id, at: Int64(time(nil)))
      try transaction.commit()
    } catch {
      cart.putBack(purchase)
      throw error
    }
    cart.putBack(purchase, exceptFor: order)
    visitor.profile.noteOrder()
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
