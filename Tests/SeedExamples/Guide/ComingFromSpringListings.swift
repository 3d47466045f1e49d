// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans

// end

struct ComingFromSpring {
  final class Database: Sendable {
    private let closed = Mutex(false)
    var isClosed: Bool { closed.withLock { $0 } }
    func close() { closed.withLock { $0 = true } }
  }

  final class Orders: Sendable {
    let database: Database
    init(database: Database) { self.database = database }
  }

  struct Visitor: Sendable { let name: String }
}

extension ComingFromSpring {
  // continued
  func declareShop(in shop: Environment) throws {
    try shop
      .define(shop.bean(Database.self, id: "database", factory: Database.init).onDestroy { $0.close() })
      .define(shop.bean(Orders.self, id: "orders", factory: Orders.init).profile("production"))
  }
  // end

  // listing
  final class Audit: Sendable {
    private let visitor: Current<Visitor>
    init(visitor: Current<Visitor>) { self.visitor = visitor }
    func line() throws -> String { try visitor.get().name }
  }

  func declareAudit(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.define(shop.bean(Audit.self, factory: Audit.init))
    return try shop.childFactory("request", seed: Visitor.self)
  }
  // end
}
