import BeansSessions

/// The goods that a visitor has chosen, for the length of the session.
///
/// Safe from any thread: a browser's connections may live on different loops, so two requests of one session can run at
/// the same time. Each call takes one lock for a moment; prices are looked up outside of it.
final class Cart: Sendable {
  struct Line: Equatable, Sendable {
    let product: Product
    let quantity: Int

    var price: Money { product.price * quantity }
  }

  /// The content of a cart that a checkout buys.
  struct Purchase: Equatable, Sendable {
    let lines: [Line]
    /// The id of the order, see `prepareOrder()`.
    let order: String
  }

  /// The stored content of a cart.
  private struct Content: Codable, Sendable {
    struct Entry: Codable {
      let product: Int64
      var quantity: Int
    }

    /// The product ids in the order in which they were first added, each with its quantity.
    var entries: [Entry] = []
    /// The id of the order that a checkout has begun to place; empty if none has.
    var order = ""
  }

  /// The maximum quantity of one product.
  static let maximumQuantity = 99

  private let catalogue: Catalogue
  private let ids: IdGenerator
  private let content: SessionValue<Content>

  init(catalogue: Catalogue, ids: IdGenerator, state: SessionState) throws {
    self.catalogue = catalogue
    self.ids = ids
    // If two nodes change the cart at once, the second one has to see the change of the first one.
    content = try state.value("cart", default: Content(), onConflict: .refuse)
  }

  var isEmpty: Bool { content.value.entries.isEmpty }

  var lines: [Line] { lines(content.value.entries) }

  /// Adds `quantity`, at least 1, to the quantity of that product in the cart.
  func add(_ product: Int64, quantity: Int = 1) throws(ShopError) {
    guard quantity > 0 else { throw .quantityOutOfRange }
    try change(product) { $0.addingReportingOverflow(quantity).partialValue }
  }

  /// Sets the quantity of that product; 0 removes it.
  func set(_ product: Int64, quantity: Int) throws(ShopError) {
    if quantity == 0 { return remove(product) }
    try change(product) { _ in quantity }
  }

  /// Removes a product. Does nothing if the product is not in the cart.
  func remove(_ product: Int64) {
    content.update { content in
      content.entries.removeAll { $0.product == product }
      if content.entries.isEmpty { content.order = "" }
    }
  }

  func clear() { content.set(Content()) }

  // MARK: Checkout

  /// The id of the order that a checkout has begun to place, whether the order has been placed by now or not.
  var order: String? {
    let order = content.value.order
    return order.isEmpty ? nil : order
  }

  /// Assigns an order id to the cart, unless it has one.
  ///
  /// The session has to be saved before the order is placed. Then the cart leads to the order, even if a later step
  /// fails, and a repeated checkout places no second one. The returned goods are those at the time of the call: a later
  /// change by another request may never be saved, and does not belong to the order.
  ///
  /// - Returns: the goods and the id of the order; nil if the cart is empty.
  func prepareOrder() -> Purchase? {
    let id = ids.next()
    let prepared =
      content.value.entries.isEmpty
      ? nil
      : content.update { content -> Content? in
        if content.entries.isEmpty { return nil }
        if content.order.isEmpty { content.order = id }
        return content
      }
    return prepared.map { Purchase(lines: lines($0.entries), order: $0.order) }
  }

  /// Removes the goods of the cart's order, which has been placed. Goods that were added after the order stay.
  ///
  /// - Returns: false, without a change, if the order is not that of the cart, or not any more.
  func settle(_ order: Order) -> Bool {
    let bought = Dictionary(order.lines.map { ($0.product, $0.quantity) }, uniquingKeysWith: +)
    return content.update { content in
      guard content.order == order.id else { return false }
      let left = content.entries.map { entry in
        Content.Entry(product: entry.product, quantity: entry.quantity - (bought[entry.product] ?? 0))
      }
      content = Content(entries: left.filter { $0.quantity > 0 })
      return true
    }
  }

  private func change(_ product: Int64, _ newQuantity: (Int) -> Int) throws(ShopError) {
    guard catalogue[product] != nil else { throw .unknownProduct }
    let fits = content.update { content in
      let index = content.entries.firstIndex { $0.product == product }
      let quantity = newQuantity(index.map { content.entries[$0].quantity } ?? 0)
      guard (1...Self.maximumQuantity).contains(quantity) else { return false }
      if let index {
        content.entries[index].quantity = quantity
      } else {
        content.entries.append(Content.Entry(product: product, quantity: quantity))
      }
      return true
    }
    if !fits { throw .quantityOutOfRange }
  }

  private func lines(_ entries: [Content.Entry]) -> [Line] {
    entries.compactMap { entry in catalogue[entry.product].map { Line(product: $0, quantity: entry.quantity) } }
  }
}

extension [Cart.Line] {
  var total: Money { reduce(.zero) { $0 + $1.price } }
  /// The number of pieces, over all products.
  var pieces: Int { reduce(0) { $0 + $1.quantity } }
}
