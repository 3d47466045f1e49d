/// The orders and the stock, read and written through one transaction. Used by one thread at a time.
final class OrderRepository {
  private let transaction: SQLiteTransaction

  init(transaction: SQLiteTransaction) { self.transaction = transaction }

  /// Takes the goods out of the stock and inserts the order. Both become permanent when the transaction is committed.
  ///
  /// If the visitor has placed the order already, returns it unchanged and takes no goods: two nodes may turn one cart
  /// into an order at once, and a visitor who got no confirmation tries again.
  ///
  /// - Parameters:
  ///   - lines: the goods.
  ///   - id: the id of the order.
  ///   - visitor: the id of the buyer.
  ///   - time: the time of the order in seconds since 1970, UTC.
  /// - Returns: the order, and whether it is new.
  /// - Throws: `ShopError` or an `SQLiteError`; the transaction must then not be committed.
  func place(
    _ lines: [Cart.Line], id: String, visitor: String, at time: Int64
  ) throws -> (order: Order, isNew: Bool) {
    if lines.isEmpty { throw ShopError.emptyCart }
    var placed: Order?
    let soldOut = try transaction.write { connection throws(SQLiteError) -> Cart.Line? in
      placed = try Self.order(id, of: visitor, connection)
      if placed != nil { return nil }
      for line in lines {
        // A product with a stock of NULL is made to order, and its stock stays NULL.
        try connection.execute(
          "UPDATE products SET stock = stock - ?1 WHERE id = ?2 AND (stock IS NULL OR stock >= ?1)",
          .integer(Int64(line.quantity)), .integer(line.product.id))
        if connection.changes == 0 { return line }
      }
      try connection.execute(
        "INSERT INTO orders (id, visitor, placed_at, total_cents) VALUES (?, ?, ?, ?)",
        .text(id), .text(visitor), .integer(time), .integer(lines.total.cents))
      for line in lines {
        try connection.execute(
          "INSERT INTO order_lines (order_id, product_id, quantity, price_cents) VALUES (?, ?, ?, ?)",
          .text(id), .integer(line.product.id), .integer(Int64(line.quantity)), .integer(line.product.price.cents))
      }
      return nil
    }
    if let soldOut { throw ShopError.soldOut(name: soldOut.product.name) }
    if let placed { return (placed, isNew: false) }
    let order = Order(
      id: id, placedAt: time, total: lines.total,
      lines: lines.map {
        Order.Line(product: $0.product.id, name: $0.product.name, quantity: $0.quantity, price: $0.product.price)
      })
    return (order, isNew: true)
  }

  /// Returns the visitor's orders, newest first, at most `limit`.
  func orders(of visitor: String, limit: Int = 20) throws -> [Order] {
    try transaction.read { connection throws(SQLiteError) in
      try Self.orders(
        connection, "visitor = ? ORDER BY placed_at DESC, sequence DESC LIMIT ?", .text(visitor), .integer(Int64(limit))
      )
    }
  }

  /// Returns the visitor's order of that id; nil if none has been placed.
  func order(_ id: String, of visitor: String) throws -> Order? {
    try transaction.read { connection throws(SQLiteError) in try Self.order(id, of: visitor, connection) }
  }

  private static func order(
    _ id: String, of visitor: String, _ connection: SQLiteConnection
  ) throws(SQLiteError) -> Order? {
    try orders(connection, "id = ?1 AND visitor = ?2 LIMIT 1", .text(id), .text(visitor)).first
  }

  /// Returns the orders that a condition of SQL selects.
  private static func orders(
    _ connection: SQLiteConnection, _ condition: String, _ first: SQLiteValue, _ second: SQLiteValue
  ) throws(SQLiteError) -> [Order] {
    let orders = try connection.query(
      "SELECT id, placed_at, total_cents FROM orders WHERE \(condition)", first, second
    ) { row in (id: row.text(0), placedAt: row.integer(1), total: Money(cents: row.integer(2))) }
    var result: [Order] = []
    for order in orders {
      let lines = try connection.query(
        """
        SELECT product_id, name, quantity, order_lines.price_cents
        FROM order_lines JOIN products ON products.id = product_id WHERE order_id = ? ORDER BY order_lines.rowid
        """, .text(order.id)
      ) { row in
        Order.Line(
          product: row.integer(0), name: row.text(1), quantity: Int(row.integer(2)),
          price: Money(cents: row.integer(3)))
      }
      result.append(Order(id: order.id, placedAt: order.placedAt, total: order.total, lines: lines))
    }
    return result
  }

  /// Returns the remaining stock of the limited products, by product id.
  func stock() throws -> [Int64: Int64] {
    let rows = try transaction.read { connection throws(SQLiteError) in
      try connection.query("SELECT id, stock FROM products WHERE stock IS NOT NULL") { row in
        (row.integer(0), row.integer(1))
      }
    }
    return Dictionary(rows) { first, _ in first }
  }
}
