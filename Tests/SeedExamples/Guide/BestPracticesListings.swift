// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans

// end

struct BestPractices {
  struct Visitor: Sendable { let name: String }

  protocol Orders: Sendable { func add(_ order: String) -> Int }

  final class Connection: Sendable {
    let isClosed = Mutex(false)
    func close() { isClosed.withLock { $0 = true } }
  }

  final class StoredOrders: Orders {
    let connection: Connection
    private let orders = Mutex<[String]>([])
    init(connection: Connection) { self.connection = connection }
    func add(_ order: String) -> Int {
      orders.withLock {
        $0.append(order)
        return $0.count
      }
    }
  }
}

extension BestPractices {
  // continued
  /// The handler takes its dependencies as parameters. Only `serve` looks a bean up.
  final class OrderHandler: Sendable {
    private let visitor: Visitor
    private let orders: any Orders

    init(visitor: Visitor, orders: any Orders) { (self.visitor, self.orders) = (visitor, orders) }

    func place(_ item: String) -> Int { orders.add("\(item) for \(visitor.name)") }
  }

  /// A part of the program, with the beans that no other part takes.
  struct Storage: BeanModule {
    func configure(_ environment: Environment) throws {
      try environment
        .define(Connection.self, factory: Connection.init) { connection in
          connection.onDestroy { $0.close() }.releaseLimit(.seconds(2)).private()
        }
        .define(StoredOrders.self, factory: StoredOrders.init)
    }
  }

  /// All declarations of the program, for its start, its tests and the check of the build.
  @discardableResult
  func declareShop(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.include(Storage())
    return try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define(OrderHandler.self, factory: OrderHandler.init)
    }
  }

  func serve(_ visitor: Visitor, _ item: String, _ requests: EnvironmentFactory<Visitor>) throws -> Int {
    try requests.withChild(visitor) { request in try request.getBean(OrderHandler.self).place(item) }
  }
  // end
}
