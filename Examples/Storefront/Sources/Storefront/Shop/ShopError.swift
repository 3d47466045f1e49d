/// A request of a customer that the shop cannot fulfil.
enum ShopError: Error, Equatable, Sendable {
  case unknownProduct
  case quantityOutOfRange
  case emptyCart
  case soldOut(name: String)

  /// The error response to the client.
  var httpError: HTTPError {
    switch self {
    case .unknownProduct: HTTPError(.unprocessableContent, "There is no such product.")
    case .quantityOutOfRange:
      HTTPError(.unprocessableContent, "The quantity must be between 1 and \(Cart.maximumQuantity).")
    case .emptyCart: HTTPError(.conflict, "The cart is empty.")
    case .soldOut(let name): HTTPError(.conflict, "There is not enough of “\(name)” left.")
    }
  }
}
