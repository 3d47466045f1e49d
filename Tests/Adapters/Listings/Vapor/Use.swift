// listing
import Beans
import Vapor

func declareRoutes(of application: Application, in shop: Beans.Environment) throws {
  let requests = try shop.childFactory("request", seed: Request.self) { request in
    try request.define(request.bean(Entry.self, factory: Entry.init).onDestroy { entry in entry.write() })
  }
  application.middleware.use(RequestEnvironments(requests: requests))
  application.post("cart", ":item") { request in
    let item = try request.parameters.require("item")
    try request.bean(Entry.self).note("added \(item)")
    return "added"
  }
}

func serve(_ application: Application, _ shop: Beans.Environment) async throws {
  try await shop.ready()
  try await application.execute()
  // The server ends before the beans that its requests use.
  try await application.asyncShutdown()
  try await shop.shutdown()
}
// end
