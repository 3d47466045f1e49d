import Beans
import BeansTesting
import Testing

@testable import Storefront

@Suite(.beans(TestShop.declare)) struct OrderRepositoryTests {
  private let shop: Environment
  private let catalogue: Catalogue

  init() throws {
    shop = try Test.environment
    catalogue = try shop.getBean(Catalogue.self)
  }

  /// Runs `body` as a request does, whose end rolls back uncommitted changes.
  @discardableResult
  private func request<R>(_ body: (OrderRepository, SQLiteTransaction) throws -> R) throws -> R {
    try shop.getBean(ShopEnvironment.self).requests.withChild(HTTPRequest(method: .get, path: "/")) {
      try body($0.getBean(OrderRepository.self), $0.getBean(SQLiteTransaction.self))
    }
  }

  private func line(_ sku: String, _ quantity: Int) throws -> Cart.Line {
    Cart.Line(product: try #require(catalogue.products.first { $0.sku == sku }), quantity: quantity)
  }

  private func stock(_ sku: String) throws -> Int64? {
    try request { orders, _ in try orders.stock()[line(sku, 1).product.id] }
  }

  private func orders(of visitor: String) throws -> [Order] {
    try request { orders, _ in try orders.orders(of: visitor) }
  }

  @Test func theFirstStartFillsTheStore() throws {
    #expect(catalogue.products.count == 10)
    #expect(catalogue.products.allSatisfy { $0.price > .zero && !$0.name.isEmpty && !$0.symbol.isEmpty })
    #expect(catalogue.products.filter(\.isLimited).map(\.sku) == ["vanilla", "geisha"])
    #expect(catalogue[1]?.sku == "yirgacheffe")
    #expect(catalogue[99] == nil)
  }

  @Test func laterStartsKeepTheStore() throws {
    let database = try TemporaryDatabase()
    let store = try database.shop()
    let transaction = SQLiteTransaction(store: store)
    _ = try OrderRepository(transaction: transaction).place([line("geisha", 5)], id: "x", visitor: "v", at: 1)
    try transaction.commit()
    try transaction.finish()
    store.close()
    let again = try database.shop()
    #expect(try Catalogue(store: again).products == catalogue.products)
    let reader = SQLiteTransaction(store: again)
    #expect(try OrderRepository(transaction: reader).orders(of: "v").count == 1)
    #expect(try OrderRepository(transaction: reader).stock().values.sorted() == [7, 250])
  }

  @Test func theRepositoryPlacesAnOrder() throws {
    let order = try request { orders, transaction in
      let order = try orders.place([line("geisha", 2), line("jelly", 3)], id: "one", visitor: "v", at: 1_000).order
      #expect(try self.orders(of: "v") == [])
      try transaction.commit()
      return order
    }
    #expect(order.total == Money(cents: 2 * 5900 + 3 * 350))
    #expect(try orders(of: "v") == [order])
    #expect(try orders(of: "somebody else") == [])
    #expect(try stock("geisha") == 10)
    #expect(try stock("jelly") == nil)
  }

  @Test func theRepositoryListsTheNewestOrdersFirstUpToALimit() throws {
    try request { orders, _ in
      for (id, time) in [("a", 5), ("b", 7), ("c", 7), ("d", 6)] {
        _ = try orders.place([line("jelly", 1)], id: id, visitor: "v", at: Int64(time))
      }
      #expect(try orders.orders(of: "v").map(\.id) == ["c", "b", "d", "a"])
      #expect(try orders.orders(of: "v", limit: 2).map(\.id) == ["c", "b"])
    }
  }

  @Test func aSoldOutProductLeavesNothingBehind() throws {
    try request { orders, _ in
      #expect(throws: ShopError.soldOut(name: "Geisha, Lot 7")) {
        _ = try orders.place([line("vanilla", 5), line("geisha", 13)], id: "x", visitor: "v", at: 1)
      }
    }
    #expect(try stock("vanilla") == 250)
    #expect(try stock("geisha") == 12)
    #expect(try orders(of: "v") == [])
  }

  @Test func theRepositoryRefusesAnEmptyOrderAndTheIdOfAnotherVisitor() throws {
    try request { orders, _ in
      #expect(throws: ShopError.emptyCart) { _ = try orders.place([], id: "x", visitor: "v", at: 1) }
      _ = try orders.place([line("jelly", 1)], id: "x", visitor: "v", at: 1)
      #expect(throws: SQLiteError.self) { _ = try orders.place([line("jelly", 1)], id: "x", visitor: "w", at: 1) }
    }
  }

  @Test func anOrderThatIsPlacedAgainIsTheFirstOne() throws {
    try request { orders, transaction in
      let first = try orders.place([line("geisha", 2)], id: "x", visitor: "v", at: 1)
      #expect(first.isNew)
      let second = try orders.place([line("geisha", 2), line("jelly", 1)], id: "x", visitor: "v", at: 2)
      #expect(second.order == first.order)
      #expect(!second.isNew)
      try transaction.commit()
    }
    #expect(try stock("geisha") == 10)
    #expect(try orders(of: "v").count == 1)
  }

  /// Four buyers, twelve tins: exactly twelve are sold.
  @Test(.timeLimit(.minutes(20))) func theRepositorySellsNoMoreThanTheStock() async throws {
    let tin = [try line("geisha", 1)]
    let requests = try shop.getBean(ShopEnvironment.self).requests
    let sold = await withTaskGroup(of: Int.self) { group in
      for buyer in 0..<4 {
        group.addTask {
          var bought = 0
          for number in 0..<8 {
            do {
              try Self.repeatingWhileBusy {
                try requests.withChild(HTTPRequest(method: .get, path: "/")) { request in
                  _ = try request.getBean(OrderRepository.self)
                    .place(tin, id: "\(buyer)-\(number)", visitor: "v", at: 1)
                  try request.getBean(SQLiteTransaction.self).commit()
                }
              }
              bought += 1
            } catch {
              #expect(error as? ShopError == .soldOut(name: "Geisha, Lot 7"))
            }
          }
          return bought
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sold == 12)
    #expect(try stock("geisha") == 0)
  }

  /// Repeats `body` where another writer has held the lock for longer than the busy timeout, as clients repeat a request after
  /// a 503.
  private static func repeatingWhileBusy(_ body: () throws -> Void) throws {
    while true {
      do { return try body() } catch let error as SQLiteError where error.isBusy { continue }
    }
  }

  @Test func theDeclarationsHaveNoFault() { checkGraph(TestShop.declare) }
}
