/// What the service answers.
enum ShopRoute: Sendable, CaseIterable {
  case page
  case products
  case cart
  case checkout
  case orders
  case health
  case environments

  /// Methods and paths of what the public is served.
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

  /// Methods and paths of what those who run the service are served, on a port of this machine alone.
  static let administration: Router<ShopRoute> = {
    var router = Router<ShopRoute>()
    router.on(.get, "/healthz", .health)
    router.on(.get, "/environments", .environments)
    return router
  }()
}
