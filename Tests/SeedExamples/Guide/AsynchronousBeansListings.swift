import Beans

// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

struct AsynchronousBeans {
  struct Visitor: Sendable { let name: String }
  struct Account: Sendable { let balance: Int }
  final class Warehouse: Sendable {
    func account(of visitor: Visitor) async throws -> Account {
      await Task.yield()
      return Account(balance: visitor.name.count)
    }
    static func connect() async throws -> Warehouse {
      await Task.yield()
      return Warehouse()
    }
  }
  struct PriceList: Sendable {
    init(from warehouse: Warehouse) async throws { await Task.yield() }
  }
  final class Doors: Sendable { init(_ warehouse: Warehouse, _ prices: PriceList) {} }
}

extension AsynchronousBeans {
  // listing
  func openShop() async throws -> Environment {
    let shop = try Environment(name: "shop")
    try shop
      .define(Warehouse.self, async: { try await Warehouse.connect() })
      .define(PriceList.self, async: { (warehouse: Warehouse) in try await PriceList(from: warehouse) })
      .define(Doors.self) { (warehouse: Warehouse, prices: PriceList) in Doors(warehouse, prices) }
    return try await shop.ready()
  }
  // end

  // listing
  func declareVisits(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.childFactory("visit", seed: Visitor.self) { visit in
      try visit.define(
        Account.self,
        async: { (visitor: Visitor, warehouse: Warehouse) in
          try await warehouse.account(of: visitor)
        })
    }
  }

  func balance(of visitor: Visitor, _ visits: EnvironmentFactory<Visitor>) async throws -> Int {
    try await visits.withChild(visitor) { visit in try await visit.getBean(awaiting: Account.self).balance }
  }
  // end
}
