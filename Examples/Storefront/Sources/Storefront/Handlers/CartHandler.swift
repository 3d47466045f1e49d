/// The handler of `GET`, `POST` and `DELETE /api/cart`: returns, changes and empties the cart.
/// `DELETE /api/cart?product=3` removes one product. Responds with the cart; a browser that sent a form is redirected
/// to the page.
final class CartHandler: RequestHandler {
  private let cart: Cart

  init(cart: Cart) { self.cart = cart }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    switch request.method {
    case .post:
      try apply(CartChange(request))
      if request.acceptsHTML { return .seeOther("/") }
    case .delete:
      try delete(request)
    default:
      break
    }
    return .json(.ok, JSONWriter.cart(cart.lines))
  }

  private func apply(_ change: CartChange) throws {
    switch change.action {
    case .add: try cart.add(change.product, quantity: change.quantity)
    case .set: try cart.set(change.product, quantity: change.quantity)
    case .remove: cart.remove(change.product)
    }
  }

  private func delete(_ request: HTTPRequest) throws {
    guard let text = try request.queryFields()["product"] else { return cart.clear() }
    guard let product = Int64(text) else { throw ShopError.unknownProduct }
    cart.remove(product)
  }
}
