import Beans
import Synchronization

struct Visitor: Sendable { let name: String }
struct HTTPRequest: Sendable { let product: String }

final class Database: DisposableBean, Sendable { func preDestroy() { print("database closed") } }

final class Basket: Sendable {
  private let items = Mutex<[String]>([])
  init(database: Database) {}
  var products: [String] { items.withLock { $0 } }
  func add(_ product: String) { items.withLock { $0.append(product) } }
}

final class AddToBasket {
  private let request: HTTPRequest, basket: Basket, visitor: Visitor
  init(request: HTTPRequest, basket: Basket, visitor: Visitor) {
    (self.request, self.basket, self.visitor) = (request, basket, visitor)
  }
  func run() -> String {
    basket.add(request.product)
    return "\(visitor.name): \(basket.products.joined(separator: ", "))"
  }
}

func serve() throws -> [String] {
  let shop = try Environment(name: "shop")
  try shop.define(Database.self, factory: Database.init)
  let sessions = try shop.childFactory("session", seed: Visitor.self) { session in
    try session.define(Basket.self, factory: Basket.init)
  }
  let requests = try sessions.childFactory("request", seed: HTTPRequest.self) { request in
    try request.define(AddToBasket.self, factory: AddToBasket.init)
  }
  try shop.startup()  // checks all declarations, those of sessions and requests included
  defer { shop.finish() }  // releases what is left, last created first: "database closed"

  let ada = try sessions.build(Visitor(name: "Ada"))  // one basket, however many requests
  return try ["tea", "milk"].map { product in
    try requests.withChild(HTTPRequest(product: product), in: ada) { request in
      try request.getBean(AddToBasket.self).run()
    }
  }
}
