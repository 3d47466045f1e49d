/// The handler of `GET /`: the shop as a page.
final class PageHandler: RequestHandler {
  private let page: StorefrontPage
  private let cart: Cart
  private let orders: OrderRepository
  private let ids: IdGenerator
  private let visitor: CurrentVisitor

  init(page: StorefrontPage, cart: Cart, orders: OrderRepository, ids: IdGenerator, visitor: CurrentVisitor) {
    self.page = page
    self.cart = cart
    self.orders = orders
    self.ids = ids
    self.visitor = visitor
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    let nonce = ids.next()
    // A visitor without an order has no orders to read: most requests of the page need no query at all.
    let placed = visitor.profile.orders > 0 ? try orders.orders(of: visitor.profile.id, limit: 5) : []
    var response = HTTPResponse.html(.ok, page.render(cart: cart.lines, orders: placed, nonce: nonce))
    try response.addField("Cache-Control", "no-store")
    try response.addField(
      "Content-Security-Policy",
      "default-src 'none'; img-src data:; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
    return response
  }
}
