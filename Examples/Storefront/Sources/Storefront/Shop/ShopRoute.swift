/// A route of the service.
enum ShopRoute: Sendable, CaseIterable {
  case page
  case products
  case cart
  case checkout
  case orders
  case health
  case environments

  /// The methods and paths of the public port.
  static let router: Router<ShopRoute> = {
    var router = Router<ShopRoute>()
    router.on(.get, "/", .page)
    router.on(.get, "/api/products", .products)
    for method in [HTTPMethod.get, .post, .delete] { router.on(method, "/api/cart", .cart) }
    router.on(.post, "/api/checkout", .checkout)
    router.on(.get, "/api/orders", .orders)
    router.on(.get, "/healthz", .health)
    return router
  }()

  /// The methods and paths of the operators' port, which is open to localhost only.
  static let administration: Router<ShopRoute> = {
    var router = Router<ShopRoute>()
    router.on(.get, "/healthz", .health)
    router.on(.get, "/environments", .environments)
    return router
  }()
}
