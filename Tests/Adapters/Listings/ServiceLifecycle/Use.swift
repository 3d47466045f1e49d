// listing
import Beans
import Logging
import ServiceLifecycle
import UnixSignals

func declareServices(in shop: Beans.Environment) throws {
  try shop
    .define(shop.bean(Consumer.self, factory: { (feed: ServiceBean<Feed>) in Consumer(feed: feed.base) }))
    .define(shop.bean(ServiceBean<Feed>.self, factory: { (journal: Journal) in ServiceBean(Feed(journal: journal)) }))
    .define(shop.bean(Journal.self, factory: Journal.init))
}

func serve(_ shop: Beans.Environment) async throws {
  let group = ServiceGroup(
    services: [EnvironmentService(environment: shop, shutdownLimit: .seconds(10))],
    gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "Shop"))
  try await group.run()
}
// end
