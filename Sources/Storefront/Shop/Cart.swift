@_spi(BeansPackage) import BeansSupport

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

  /// How many of one product there may be.
  static let maximumQuantity = 99

  private let catalogue: Catalogue
  /// Product ids in the order they were first added, each with its quantity.
  private let entries = Locked<[(product: Int64, quantity: Int)]>([])

  init(catalogue: Catalogue) { self.catalogue = catalogue }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  var lines: [Line] { lines(entries.withLock { $0 }) }

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
    entries.withLock { $0.removeAll { $0.product == product } }
  }

  func clear() {
    entries.withLock { $0 = [] }
  }

  /// Empties the cart and returns what was in it, in one step, so that of two checkouts at once only one gets the goods.
  func take() -> [Line] {
    lines(
      entries.withLock { entries in
        defer { entries = [] }
        return entries
      })
  }

  /// Puts back what `take` returned, in front of what has been added since.
  func putBack(_ lines: [Line]) {
    entries.withLock { entries in
      var restored = lines.map { (product: $0.product.id, quantity: $0.quantity) }
      for entry in entries {
        if let index = restored.firstIndex(where: { $0.product == entry.product }) {
          restored[index].quantity = min(restored[index].quantity + entry.quantity, Self.maximumQuantity)
        } else {
          restored.append(entry)
        }
      }
      entries = restored
    }
  }

  private func change(_ product: Int64, _ newQuantity: (Int) -> Int) throws(ShopError) {
    guard catalogue[product] != nil else { throw .unknownProduct }
    let fits = entries.withLock { entries in
      let index = entries.firstIndex { $0.product == product }
      let quantity = newQuantity(index.map { entries[$0].quantity } ?? 0)
      guard (1...Self.maximumQuantity).contains(quantity) else { return false }
      if let index { entries[index].quantity = quantity } else { entries.append((product, quantity)) }
      return true
    }
    if !fits { throw .quantityOutOfRange }
  }

  private func lines(_ entries: [(product: Int64, quantity: Int)]) -> [Line] {
    entries.compactMap { entry in catalogue[entry.product].map { Line(product: $0, quantity: entry.quantity) } }
  }
}

extension [Cart.Line] {
  var total: Money { reduce(.zero) { $0 + $1.price } }
  /// How many pieces, over all products.
  var pieces: Int { reduce(0) { $0 + $1.quantity } }
}
