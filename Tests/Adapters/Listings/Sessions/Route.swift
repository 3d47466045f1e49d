// Compiled with the adapter of Hummingbird.
@testable import HummingbirdListings

// listing
import Beans
import BeansSessions
import Hummingbird

final class Basket: Sendable {
  private let products: SessionValue<[String]>

  init(state: SessionState) throws { products = try state.value("products", default: []) }

  func add(_ product: String) -> Int {
    products.update { products in
      products.append(product)
      return products.count
    }
  }
}

struct Purchase: Sendable {
  let request: Request, basket: Basket
  func run(_ product: String) -> Int { basket.add(product) }
}

func addRoutes(to router: Router<BasicRequestContext>, in shop: Beans.Environment) throws {
  let visits = try shop.childFactory("session", seed: SessionState.self) { session in
    try session.define(Basket.self, factory: Basket.init)
  }
  try visits.childFactory("request", seed: Request.self) { request in
    try request.define(Purchase.self, factory: Purchase.init)
  }
  try shop.define(
    Sessions<SessionState>.self, factory: { Sessions(visits, capacity: 10_000, idleLimit: .seconds(1_800)) })
  router.add(middleware: SessionRequests(environment: shop))
  try router.on("basket/:product", .post, in: shop, Purchase.self) { _, context, purchase in
    "\(purchase.run(try context.parameters.require("product")))"
  }
}
// end
