/// The list of all products, read once when the service starts. Immutable, so every thread may use it.
final class Catalogue: Sendable {
  /// The products in the order of their ids.
  let products: [Product]
  private let index: [Int64: Int]

  /// Creates a catalogue. Throws if two products have the same id, or if a price is out of bounds: a file that is
  /// written while the service starts may contain any value.
  init(products: [Product]) throws(SQLiteError) {
    self.products = products
    index = Dictionary(products.enumerated().map { ($1.id, $0) }) { first, _ in first }
    guard index.count == products.count else { throw SQLiteError.misuse("two products have one id", operation: "load") }
    for product in products where product.price <= .zero || product.price > .maximum {
      throw SQLiteError.misuse("the price of “\(product.sku)” is out of bounds", operation: "load")
    }
  }

  /// Reads the products of the store, which must be open.
  convenience init(store: SQLiteStore) throws {
    let transaction = SQLiteTransaction(store: store)
    let products = try transaction.read { connection throws(SQLiteError) in
      try connection.query(
        "SELECT id, sku, name, description, symbol, price_cents, stock FROM products ORDER BY id"
      ) { row in
        Product(
          id: row.integer(0), sku: row.text(1), name: row.text(2), description: row.text(3), symbol: row.text(4),
          price: Money(cents: row.integer(5)), isLimited: !row.isNull(6))
      }
    }
    try transaction.finish()
    try self.init(products: products)
  }

  /// Returns the product of that id; nil if there is none.
  subscript(id: Int64) -> Product? { index[id].map { products[$0] } }
}
