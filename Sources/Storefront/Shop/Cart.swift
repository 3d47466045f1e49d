import BeansSessions

/// What a visitor has chosen, for as long as the session lasts.
///
/// Safe from any thread: a browser's connections may live on different loops, so two requests of one session can run at the
/// same time. Each call takes one lock for a moment; prices are looked up outside of it.
final class Cart: Sendable {
  struct Line: Equatable, Sendable {
    let product: Product
    let quantity: Int

    var price: Money { product.price * quantity }
  }

  /// What is bought at once.
  struct Purchase: Equatable, Sendable {
    let lines: [Line]
    /// The id of the order that this becomes. A cart that is bought a second time, because the first time could not be kept or
    /// told of, becomes no second order.
    let order: String
  }

  /// What is kept of a cart.
  private struct Content: Codable {
    struct Entry: Codable {
      let product: Int64
      var quantity: Int
    }

    /// Product ids in the order they were first added, each with its quantity.
    var entries: [Entry] = []
    /// What the order will be called, from the first product on until the cart is empty.
    var order = ""
  }

  /// How many of one product there may be.
  static let maximumQuantity = 99

  private let catalogue: Catalogue
  private let ids: IdGenerator
  private let content: SessionValue<Content>

  init(catalogue: Catalogue, ids: IdGenerator, state: SessionState) throws {
    self.catalogue = catalogue
    self.ids = ids
    // Of two nodes that change the cart at once, the second one has to see what the first one has done.
    content = try state.value("cart", default: Content(), onConflict: .refuse)
  }

  var isEmpty: Bool { content.value.entries.isEmpty }

  var lines: [Line] { lines(content.value.entries) }

  /// Adds `quantity`, at least 1, to what is in the cart of that product.
  func add(_ product: Int64, quantity: Int = 1) throws(ShopError) {
    guard quantity > 0 else { throw .quantityOutOfRange }
    try change(product) { $0.addingReportingOverflow(quantity).partialValue }
  }

  /// Makes `quantity` the quantity of that product; 0 removes it.
  func set(_ product: Int64, quantity: Int) throws(ShopError) {
    if quantity == 0 { return remove(product) }
    try change(product) { _ in quantity }
  }

  /// Does nothing where the product is not in the cart.
  func remove(_ product: Int64) {
    content.update { content in
      content.entries.removeAll { $0.product == product }
      if content.entries.isEmpty { content.order = "" }
    }
  }

  func clear() { content.set(Content()) }

  /// Empties the cart and returns what was in it, in one step, so that of two checkouts at once only one gets the goods.
  func take() -> Purchase {
    let taken = content.update { content in
      defer { content = Content() }
      return content
    }
    return Purchase(lines: lines(taken.entries), order: taken.order)
  }

  /// Puts back what `take` returned, in front of what has been added since.
  func putBack(_ purchase: Purchase) {
    if purchase.lines.isEmpty { return }
    content.update { content in
      var restored = purchase.lines.map { Content.Entry(product: $0.product.id, quantity: $0.quantity) }
      for entry in content.entries {
        if let index = restored.firstIndex(where: { $0.product == entry.product }) {
          restored[index].quantity = min(restored[index].quantity + entry.quantity, Self.maximumQuantity)
        } else {
          restored.append(entry)
        }
      }
      content = Content(entries: restored, order: purchase.order)
    }
  }

  /// Puts back what a purchase has beyond the order that it has become.
  ///
  /// An earlier attempt may have placed the order before more was added to the cart.
  func putBack(_ purchase: Purchase, exceptFor order: Order) {
    let bought = Dictionary(order.lines.map { ($0.product, $0.quantity) }, uniquingKeysWith: +)
    let lines = purchase.lines.compactMap { line in
      let quantity = line.quantity - (bought[line.product.id] ?? 0)
      return quantity > 0 ? Line(product: line.product, quantity: quantity) : nil
    }
    if !lines.isEmpty { putBack(Purchase(lines: lines, order: ids.next())) }
  }

  private func change(_ product: Int64, _ newQuantity: (Int) -> Int) throws(ShopError) {
    guard catalogue[product] != nil else { throw .unknownProduct }
    let order = ids.next()
    let fits = content.update { content in
      let index = content.entries.firstIndex { $0.product == product }
      let quantity = newQuantity(index.map { content.entries[$0].quantity } ?? 0)
      guard (1...Self.maximumQuantity).contains(quantity) else { return false }
      if let index {
        content.entries[index].quantity = quantity
      } else {
        content.entries.append(Content.Entry(product: product, quantity: quantity))
      }
      if content.order.isEmpty { content.order = order }
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
  /// How many pieces, over all products.
  var pieces: Int { reduce(0) { $0 + $1.quantity } }
}
