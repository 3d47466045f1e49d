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

final class Purchase: Sendable {
  private let (request, basket): (Request, Basket)
  init(request: Request, basket: Basket) { (self.request, self.basket) = (request, basket) }
  func run(_ product: String) -> Int { basket.add(product) }
}

func addRoutes(to router: Router<BasicRequestContext>, in shop: Beans.Environment) throws {
  let visits = try shop.childFactory("session", seed: SessionState.self) { session in
    try session.define(Basket.self, factory: Basket.init)
  }
  let requests = try visits.childFactory("request", seed: Request.self) { request in
    try request.define(Purchase.self, factory: Purchase.init)
  }
  let sessions = Sessions(visits, capacity: 10_000, idleLimit: .seconds(1_800))

  router.on("basket/:product", method: .post) { request, context in
    let product = try context.parameters.require("product")
    let answer = try await sessions.withSession(cookie: request.cookies["session"]?.value) { session in
      try await requests.withChild(request, in: session.environment) { child in
        try child.getBean(Purchase.self).run(product)
      }
    }
    var response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "\(answer.value)")))
    if case .set(let id) = answer.cookie {
      response.setCookie(Cookie(name: "session", value: id, path: "/", secure: true, httpOnly: true, sameSite: .lax))
    }
    return response
  }
}
// end
