import Beans

/// The event that an order has been placed and committed.
struct OrderPlaced: Sendable {
  let order: Order
}

/// The sales of this process, for its operators. Safe from any thread.
final class Sales: EventListener, Sendable {
  private let sold = Guarded((orders: 0, total: Money.zero))

  func receive(_ event: OrderPlaced) {
    sold.withLock { sold in sold = (sold.orders + 1, sold.total + event.order.total) }
  }

  func text() -> String { sold.withLock { "orders placed: \($0.orders), \($0.total) €" } }
}

/// A report that puts the sales before a report on the live environments.
final class SalesReport: LiveReport {
  private let inner: any LiveReport
  private let sales: Sales

  init(_ inner: any LiveReport, _ sales: Sales) { (self.inner, self.sales) = (inner, sales) }

  func text() -> String { "\(sales.text())\n\(inner.text())" }
}
