import BeansSessions
import Glibc
import Testing

@testable import Storefront

/// Database files that the service finds at its start.
@Suite(.timeLimit(.minutes(20)))
struct ShopSchemaTests {
  private let database: TemporaryDatabase

  init() throws {
    database = try TemporaryDatabase()
    let store = try database.shop()
    let transaction = SQLiteTransaction(store: store)
    let line = Cart.Line(product: try #require(try Catalogue(store: store)[10]), quantity: 2)
    _ = try OrderRepository(transaction: transaction).place([line], id: "one", visitor: "v", at: 1)
    try transaction.commit()
    try transaction.finish()
    store.close()
  }

  /// Everything that the service reads from the file.
  private func useAll() throws {
    let store = try database.shop()
    defer { store.close() }
    let catalogue = try Catalogue(store: store)
    let transaction = SQLiteTransaction(store: store)
    let orders = OrderRepository(transaction: transaction)
    _ = try orders.orders(of: "v")
    _ = try orders.stock()
    let cart = try Cart(catalogue: catalogue, ids: IdGenerator(), state: SessionState())
    for product in catalogue.products {
      try cart.set(product.id, quantity: Cart.maximumQuantity)
      _ = product.price.description
    }
    _ = cart.lines.total
    _ = try orders.place(cart.lines, id: "two", visitor: "v", at: 2)
    try transaction.finish()
  }

  @Test(arguments: [
    ("an older version", ["PRAGMA user_version = 1"], "version 1"),
    ("a later version", ["PRAGMA user_version = 1000"], "version 1000"),
    ("a negative version", ["PRAGMA user_version = -1"], "version -1"),
    ("tables of nobody's", ["PRAGMA user_version = 0"], "products"),
    ("a missing table", ["PRAGMA foreign_keys = OFF", "DROP TABLE order_lines"], "order_lines"),
    ("a missing index", ["DROP INDEX orders_of_visitor"], "orders_of_visitor"),
    ("another column", ["ALTER TABLE products ADD COLUMN colour TEXT"], "products"),
    (
      "a price beyond all bounds",
      ["PRAGMA ignore_check_constraints = ON", "UPDATE products SET price_cents = 9223372036854775807 WHERE id = 1"],
      "products"
    ),
    (
      "a price of nothing",
      ["PRAGMA ignore_check_constraints = ON", "UPDATE products SET price_cents = 0 WHERE id = 1"], "products"
    ),
    (
      "a negative stock",
      ["PRAGMA ignore_check_constraints = ON", "UPDATE products SET stock = -1 WHERE id = 10"], "products"
    ),
    (
      "an order of too much",
      ["PRAGMA ignore_check_constraints = ON", "UPDATE order_lines SET quantity = 9223372036854775807"], "order_lines"
    ),
    (
      "an order of a product that is not there",
      ["PRAGMA foreign_keys = OFF", "UPDATE order_lines SET product_id = 99"], "order_lines"
    ),
  ])
  func aDamagedFileIsRefusedWithTheReason(_ row: (name: String, changes: [String], reason: String)) throws {
    let connection = try database.connect()
    for change in row.changes { try connection.execute(change) }
    let error = #expect(throws: SQLiteError.self, "\(row.name)") { try database.shop() }
    #expect(error?.message.contains(row.reason) == true, "\(row.name): \(error.map(String.init(describing:)) ?? "")")
    // It must not have been left inside a transaction.
    try connection.execute("BEGIN IMMEDIATE")
  }

  @Test func aFileThatIsNoDatabaseIsRefused() throws {
    let file = open(database.path, O_WRONLY)
    #expect(write(file, "no database at all", 18) == 18)
    close(file)
    #expect(throws: SQLiteError.self) { try database.shop() }
  }

  /// Bytes of the file are changed at random; the seed is the test's argument.
  @Test(arguments: 0..<10) func damageIsAnErrorOrHarmless(_ hundred: Int) throws {
    var random = SplitMix64(seed: UInt64(hundred))
    let whole = try contents()
    var refused = 0
    for _ in 0..<50 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...64, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try replace(by: damaged)
      do { try useAll() } catch is SQLiteError { refused += 1 } catch is ShopError { refused += 1 }
    }
    #expect(refused > 0)
  }

  /// A user who may not write to the file, in a process of its own.
  @Test func aFileThatCannotBeWrittenIsRefused() async throws {
    chmod(database.folder, 0o777)
    chmod(database.path, 0o444)
    let path: String = database.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Permissions do not bind root.
      if geteuid() == 0 { precondition(seteuid(65_534) == 0) }
      let store = SQLiteStore()
      store.path = path
      do {
        try store.open(prepare: ShopSchema.prepare)
      } catch let error as SQLiteError {
        precondition(error.message.contains("read-only") || error.message.contains("readonly"))
        // At once: LeakSanitizer, which runs at the end, may not look at a process that has given up its rights.
        _exit(EXIT_SUCCESS)
      }
      preconditionFailure("opened")
    }
  }

  @Test func anImpossibleCatalogueIsRefused() throws {
    func product(_ id: Int64, cents: Int64) -> Product {
      Product(id: id, sku: "a", name: "A", description: "", symbol: "a", price: Money(cents: cents), isLimited: false)
    }
    #expect(
      try Catalogue(products: [product(1, cents: 1), product(2, cents: Money.maximum.cents)]).products.count == 2)
    #expect(throws: SQLiteError.self) { try Catalogue(products: [product(1, cents: 1), product(1, cents: 1)]) }
    for cents in [.min, -1, 0, Money.maximum.cents + 1, .max] {
      #expect(throws: SQLiteError.self) { try Catalogue(products: [product(1, cents: cents)]) }
    }
  }

  private func contents() throws -> [UInt8] {
    let file = open(database.path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_END)))
    try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
    return bytes
  }

  private func replace(by bytes: [UInt8]) throws {
    for suffix in ["-wal", "-shm"] { unlink(database.path + suffix) }
    let file = open(database.path, O_WRONLY | O_TRUNC)
    defer { close(file) }
    try #require(write(file, bytes, bytes.count) == bytes.count)
  }
}
