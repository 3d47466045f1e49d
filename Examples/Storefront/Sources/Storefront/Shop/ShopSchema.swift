/// The tables of the database, and their rows on the first start.
enum ShopSchema {
  /// The version of the tables, stored in the file as `user_version`; raised with every change of the tables.
  private static let version: Int64 = 2

  /// Creates and fills the tables of a new file, in one transaction. Checks the tables of a filled one, which takes as
  /// long as reading the file.
  ///
  /// - Throws: `SQLiteError` if the file was made by another version or program, or is damaged: its message contains
  ///   the reason.
  static func prepare(_ connection: SQLiteConnection) throws(SQLiteError) {
    // Immediate: if two processes start at once on one new file, the second one waits and then finds the file filled.
    try connection.execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      let found = try connection.query("PRAGMA user_version") { row in row.integer(0) }.first ?? 0
      if found == 0 {
        try create(connection)
      } else if found == version {
        try check(connection)
      } else {
        throw refusal("the file has schema version \(found), this program knows \(version)")
      }
      try connection.execute("COMMIT")
    } catch {
      if !connection.isAutocommit { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  private static func create(_ connection: SQLiteConnection) throws(SQLiteError) {
    let others = try connection.query("SELECT name FROM sqlite_master ORDER BY name") { row in row.text(0) }
    if !others.isEmpty {
      throw refusal("the file has objects of another program: \(others.joined(separator: ", "))")
    }
    for (_, statement) in objects { try connection.execute(statement) }
    for product in products { try insert(product, connection) }
    try connection.execute("PRAGMA user_version = \(version)")
  }

  /// Checks that the tables are those of `objects`, and that the rows satisfy their constraints, even if another
  /// program wrote them.
  private static func check(_ connection: SQLiteConnection) throws(SQLiteError) {
    try checkObjects(connection)
    let damage = try connection.query("PRAGMA quick_check(3)") { row in row.text(0) }
    if damage != ["ok"] { throw refusal("the file is damaged: \(damage.joined(separator: "; "))") }
    if let table = try connection.query("PRAGMA foreign_key_check", row: { row in row.text(0) }).first {
      throw refusal("a row of “\(table)” refers to one that is not there")
    }
  }

  /// Checks that the tables and indexes exist in the form that this program creates. Reads the schema alone.
  ///
  /// - Throws: `SQLiteError` with a message that names a missing or different one.
  static func checkObjects(_ connection: SQLiteConnection) throws(SQLiteError) {
    let found = try connection.query("SELECT name, sql FROM sqlite_master") { row in (row.text(0), row.text(1)) }
    for (name, statement) in objects where !found.contains(where: { $0 == (name, statement) }) {
      throw refusal("“\(name)” is missing, or not as this program makes it")
    }
  }

  private static func refusal(_ reason: String) -> SQLiteError { .misuse(reason, operation: "open") }

  /// The tables and indexes by name, in the order in which they are created. With these bounds no sum of an order's
  /// lines can overflow.
  private static let objects: [(name: String, statement: String)] = [
    (
      "products",
      """
      CREATE TABLE products (
        id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT NOT NULL,
        symbol TEXT NOT NULL, price_cents INTEGER NOT NULL CHECK (price_cents BETWEEN 1 AND \(Money.maximum.cents)),
        stock INTEGER CHECK (stock BETWEEN 0 AND 1000000000)
      ) STRICT
      """
    ),
    (
      "orders",
      """
      CREATE TABLE orders (
        sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, visitor TEXT NOT NULL, placed_at INTEGER NOT NULL,
        total_cents INTEGER NOT NULL CHECK (total_cents > 0)
      ) STRICT
      """
    ),
    ("orders_of_visitor", "CREATE INDEX orders_of_visitor ON orders (visitor, placed_at)"),
    (
      "order_lines",
      """
      CREATE TABLE order_lines (
        order_id TEXT NOT NULL REFERENCES orders (id), product_id INTEGER NOT NULL REFERENCES products (id),
        quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND \(Cart.maximumQuantity)),
        price_cents INTEGER NOT NULL CHECK (price_cents BETWEEN 1 AND \(Money.maximum.cents)),
        UNIQUE (order_id, product_id)
      ) STRICT
      """
    ),
    // The table that `HealthHandler` writes to, as a check that writes succeed.
    ("probe", "CREATE TABLE probe (at INTEGER PRIMARY KEY) STRICT"),
  ]

  /// A product on the first day. A nil `stock` means: made to order.
  private typealias Seed = (sku: String, symbol: String, name: String, cents: Int64, stock: Int64?, description: String)

  private static let products: [Seed] = [
    (
      "yirgacheffe", "☕️", "Yirgacheffe", 1490, nil,
      "Washed Ethiopian coffee, 250 g. Bergamot, peach and a clean finish."
    ),
    ("espresso", "🟤", "House Espresso", 1190, nil, "Our everyday blend, 250 g. Dark chocolate, hazelnut, no drama."),
    ("decaf", "🌙", "Night Shift Decaf", 1290, nil, "Swiss-water decaf, 250 g, for deploys after eight."),
    ("borlotti", "🫘", "Borlotti", 490, nil, "Speckled Piedmont beans, 500 g. Soak overnight, simmer gently."),
    ("black-turtle", "🐢", "Black Turtle", 390, nil, "Small, black, firm, 500 g. The backbone of every good chilli."),
    ("edamame", "🌱", "Edamame", 450, nil, "Young soybeans in the pod, 400 g, frozen within the hour."),
    (
      "cocoa", "🍫", "Cocoa Nibs", 890, nil, "Roasted Piura cocoa, cracked, 200 g. For baking, or straight from the bag."
    ),
    (
      "vanilla", "🌼", "Vanilla Pods", 1250, 250, "Three Bourbon pods from Sava, glossy and pliable. One harvest a year."
    ),
    ("jelly", "🍬", "Jelly Beans", 350, nil, "Thirty-six flavours, 300 g, and no way to tell which is which."),
    (
      "geisha", "👑", "Geisha, Lot 7", 5900, 12,
      "Panama Geisha, 100 g tin, numbered. Jasmine and lime; twelve tins in all."
    ),
  ]

  private static func insert(_ product: Seed, _ connection: SQLiteConnection) throws(SQLiteError) {
    try connection.execute(
      "INSERT INTO products (sku, name, description, symbol, price_cents, stock) VALUES (?, ?, ?, ?, ?, ?)",
      .text(product.sku), .text(product.name), .text(product.description), .text(product.symbol),
      .integer(product.cents), product.stock.map { .integer($0) } ?? .null)
  }
}
