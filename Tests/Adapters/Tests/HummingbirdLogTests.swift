import Beans
import BeansLogging
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import HummingbirdListings

// The installed `LogManager` and the factory of `LoggingSystem` belong to the process.
extension SwiftLogTests {
  @Test("Each line of a request on Hummingbird has its id: of the route, of its logger, of creations and of releases")
  func requestIds() async throws {
    let lines = Lines()
    installLogs(to: Destination(lines))
    let logger = Logging.Logger(label: "Shop")
    let shop = try Beans.Environment(name: "shop")
    let router = try declareRoutes(in: shop)
    try shop.define(Created.self, factory: { Created(logger) }) { created in
      created.scope("request").onDestroy { _ in logger.info("released") }
    }
    try router.on("logged", .get, in: shop, Created.self) { request, context, _ in
      logger.info("handled")
      context.logger.info("by the request's logger")
      return request.id
    }
    let ids = try await Application(router: router).test(.router) { client in
      let first = try await client.execute(uri: "/logged", method: .get)
      let second = try await client.execute(uri: "/logged", method: .get)
      return [first, second].map { String(buffer: $0.body) }
    }
    try await shop.shutdown()
    #expect(LogManager.flush(within: .seconds(600)))
    #expect(Set(ids).count == 2 && !ids.contains(""))
    #expect(
      lines.all
        == ids.flatMap { id in
          [
            "Shop INFO {hb.request.id=\(id)} created",
            "Shop INFO {hb.request.id=\(id)} handled",
            "Hummingbird INFO {hb.request.id=\(id)} by the request's logger",
            "Shop INFO {hb.request.id=\(id)} released",
          ]
        })
  }

  private struct Created: Sendable {
    init(_ logger: Logging.Logger) { logger.info("created") }
  }
}
