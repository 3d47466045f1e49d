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
  let requests = try visits.childFactory("request", seed: Request.self) { request in
    try request.define(Purchase.self, factory: Purchase.init)
  }
  let sessions = Sessions(visits, capacity: 10_000, idleLimit: .seconds(1_800))
  router.add(middleware: SessionRequests(requests: requests, sessions: sessions))
  try router.on("basket/:product", .post, in: shop, Purchase.self) { _, context, purchase in
    "\(purchase.run(try context.parameters.require("product")))"
  }
}

/// Opens an environment for each request, in the session of its visitor. Both end before the response is written.
struct SessionRequests<Context: RequestContext>: RouterMiddleware {
  let requests: EnvironmentFactory<Request>
  let sessions: Sessions<SessionState>

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let answer = try await sessions.withSession(cookie: request.cookies["session"]?.value) { session in
      try await SessionHandle.$current.withValue(session) {
        try await requests.withChild(request, in: session.environment) { _ in try await next(request, context) }
      }
    }
    var response = answer.value
    if case .set(let id) = answer.cookie {
      response.setCookie(Cookie(name: "session", value: id, path: "/", secure: true, httpOnly: true, sameSite: .lax))
    }
    return response
  }
}

extension SessionHandle {
  /// The session of the request that the task handles.
  @TaskLocal static var current: SessionHandle?
}
// end
