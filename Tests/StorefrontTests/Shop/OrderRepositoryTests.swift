import Testing

@testable import Storefront

@Suite struct OrderRepositoryTests {
  private let database: TemporaryDatabase
  private let store: SQLiteStore
  private let catalogue: Catalogue

  init() throws {
    database = try TemporaryDatabase()
    store = try database.shop()
    catalogue = try Catalogue(store: store)
  }

  private func line(_ sku: String, _ quantity: Int) throws -> Cart.Line {
    Cart.Line(product: try #require(catalogue.products.first { $0.sku == sku }), quantity: quantity)
  }

  private func stock(_ sku: String) throws -> Int64? {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    return try OrderRepository(transaction: transaction).stock()[line(sku, 1).product.id]
  }

  private func orders(of visitor: String) throws -> [Order] {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    return try OrderRepository(transaction: transaction).orders(of: visitor)
  }

  @Test func theFirstStartFillsTheStore() throws {
    #expect(catalogue.products.count == 10)
    #expect(catalogue.products.allSatisfy { $0.price > .zero && !$0.name.isEmpty && !$0.symbol.isEmpty })
    #expect(catalogue.products.filter(\.isLimited).map(\.sku) == ["vanilla", "geisha"])
    #expect(catalogue[1]?.sku == "yirgacheffe")
    #expect(catalogue[99] == nil)
  }

  @Test func laterStartsKeepWhatIsThere() throws {
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

  @Test func placesAnOrder() throws {
    let transaction = SQLiteTransaction(store: store)
    let repository = OrderRepository(transaction: transaction)
    let order = try repository.place([line("geisha", 2), line("jelly", 3)], id: "one", visitor: "v", at: 1_000)
    #expect(order.total == Money(cents: 2 * 5900 + 3 * 350))
    #expect(try orders(of: "v") == [])
    try transaction.commit()
    #expect(try orders(of: "v") == [order])
    #expect(try orders(of: "somebody else") == [])
    #expect(try stock("geisha") == 10)
    #expect(try stock("jelly") == nil)
  }

  @Test func showsTheNewestFirstAndNotTooMany() throws {
    let transaction = SQLiteTransaction(store: store)
    let repository = OrderRepository(transaction: transaction)
    for (id, time) in [("a", 5), ("b", 7), ("c", 7), ("d", 6)] {
      _ = try repository.place([line("jelly", 1)], id: id, visitor: "v", at: Int64(time))
    }
    #expect(try repository.orders(of: "v").map(\.id) == ["c", "b", "d", "a"])
    #expect(try repository.orders(of: "v", limit: 2).map(\.id) == ["c", "b"])
  }

  @Test func aSoldOutProductLeavesNothingBehind() throws {
    let transaction = SQLiteTransaction(store: store)
    let repository = OrderRepository(transaction: transaction)
    #expect(throws: ShopError.soldOut(name: "Geisha, Lot 7")) {
      _ = try repository.place([line("vanilla", 5), line("geisha", 13)], id: "x", visitor: "v", at: 1)
    }
    try transaction.finish()
    #expect(try stock("vanilla") == 250)
    #expect(try stock("geisha") == 12)
    #expect(try orders(of: "v") == [])
  }

  @Test func refusesAnEmptyOrderAndAnIdTwice() throws {
    let transaction = SQLiteTransaction(store: store)
    let repository = OrderRepository(transaction: transaction)
    #expect(throws: ShopError.emptyCart) { _ = try repository.place([], id: "x", visitor: "v", at: 1) }
    _ = try repository.place([line("jelly", 1)], id: "x", visitor: "v", at: 1)
    #expect(throws: SQLiteError.self) { _ = try repository.place([line("jelly", 1)], id: "x", visitor: "v", at: 1) }
  }

  /// Two writers, twelve tins: exactly twelve are sold.
  @Test(.timeLimit(.minutes(20))) func neverSellsMoreThanThereIs() async throws {
    let tin = [try line("geisha", 1)]
    let store = store
    let sold = await withTaskGroup(of: Int.self) { group in
      for buyer in 0..<4 {
        group.addTask {
          var bought = 0
          for number in 0..<8 {
            let transaction = SQLiteTransaction(store: store)
            do {
              let repository = OrderRepository(transaction: transaction)
              _ = try repository.place(tin, id: "\(buyer)-\(number)", visitor: "v", at: 1)
              try transaction.commit()
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
}
