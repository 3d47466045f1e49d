/// The handler of `GET /api/orders`: the visitor's orders, newest first.
final class OrdersHandler: RequestHandler {
  private let orders: OrderRepository
  private let visitor: CurrentVisitor

  init(orders: OrderRepository, visitor: CurrentVisitor) {
    self.orders = orders
    self.visitor = visitor
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    let orders = try orders.orders(of: visitor.profile.id)
    return .json(.ok, JSONWriter.array(orders) { $0.order($1) })
  }
}
