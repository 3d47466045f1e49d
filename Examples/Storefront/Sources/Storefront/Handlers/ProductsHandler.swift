/// The handler of `GET /api/products`: all products, with the remaining stock of the limited ones.
final class ProductsHandler: RequestHandler {
  private let catalogue: Catalogue
  private let orders: OrderRepository

  init(catalogue: Catalogue, orders: OrderRepository) {
    self.catalogue = catalogue
    self.orders = orders
  }

  func handle(_ request: HTTPRequest) throws -> HTTPResponse {
    let stock = try orders.stock()
    return .json(.ok, JSONWriter.array(catalogue.products) { $0.product($1, stock: stock[$1.id]) })
  }
}
