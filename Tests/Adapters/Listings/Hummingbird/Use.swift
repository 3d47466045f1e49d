// listing
import Beans
import BeansLogging
import BeansSessions
import Foundation
import Hummingbird
import ServiceLifecycle
import UnixSignals

func declareRoutes(in shop: Beans.Environment) throws -> Router<BasicRequestContext> {
  try shop.define(Journal.self, factory: Journal.init)
  let visits = try shop.childFactory("session", seed: Void.self) { try $0.define(Cart.self, factory: Cart.init) }
  let requests = try visits.childFactory("request", seed: Request.self) { request in
    try request.define(Entry.self, factory: Entry.init) { $0.onDestroy { entry in entry.write() } }
  }
  .logMetadata { request in ["hb.request.id": request.id] }
  let sessions = Sessions(visits, capacity: 10_000, idleLimit: .seconds(1_800))
  let router = Router()
    .add(middleware: RequestIds())
    .add(middleware: RequestEnvironments(requests, in: sessions))
  try router.on("cart/:item", .post, in: shop, Cart.self, Entry.self) { _, context, cart, entry in
    entry.note("added")
    return "\(cart.add(try context.parameters.require("item")))"
  }
  return router
}

func serve(_ shop: Beans.Environment, _ router: Router<BasicRequestContext>, at address: BindAddress) async throws {
  var application = Application(router: router, configuration: .init(address: address))
  application.beforeServerStarts { try await shop.ready(options: [.requireSendable]) }
  let environment = EnvironmentService(environment: shop, shutdownLimit: .seconds(10))
  // The group ends its last service first: no request is in flight when the environment ends.
  let services: [any Service] = [environment, application]
  let group = ServiceGroup(
    services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: application.logger)
  try await group.run()
}

struct ServerSettings: Decodable, Sendable { let port: Int }

struct Program {  // write `@main` before it
  static func main() async {
    do {
      installLogs()
      let shop = try Beans.Environment(name: "shop")
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(prefix: "SHOP"))
      let router = try declareRoutes(in: shop)
      try shop.define(ServerSettings.self, configuration: "server", rejectsUnknownKeys: true)
      // Starts the environment, except for beans that have to be awaited.
      let port = try shop.getBean(ServerSettings.self).port
      try await serve(shop, router, at: .hostname("127.0.0.1", port: port))
    } catch {
      debugPrint(error)
      exit(EXIT_FAILURE)
    }
  }
}
// end
