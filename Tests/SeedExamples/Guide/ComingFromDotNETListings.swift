// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans

// end

struct ComingFromDotNET {
  final class Database: Sendable {
    let orders = Mutex(0)
  }

  final class Orders: Sendable {
    private let database: Database
    init(database: Database) { self.database = database }
    func place() { database.orders.withLock { $0 += 1 } }
  }
}

extension ComingFromDotNET {
  // continued
  func declareShop(in shop: Environment) throws -> EnvironmentFactory<Void> {
    try shop
      .define(shop.bean(Database.self, factory: Database.init))
      .define(shop.bean(Orders.self, factory: Orders.init).scope("request"))
    return try shop.childFactory("request", seed: Void.self)
  }

  func placeOrder(_ requests: EnvironmentFactory<Void>) throws {
    try requests.withChild(()) { request in try request.getBean(Orders.self).place() }
  }
  // end
}
