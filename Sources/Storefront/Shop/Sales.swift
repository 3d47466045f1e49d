import Beans

/// An order has been placed, and is kept.
struct OrderPlaced: Sendable {
  let order: Order
}

/// What this process has sold, for those who run it. Safe from any thread.
final class Sales: EventListener, Sendable {
  private let sold = Guarded((orders: 0, total: Money.zero))

  func receive(_ event: OrderPlaced) {
    sold.withLock { sold in sold = (sold.orders + 1, sold.total + event.order.total) }
  }

  func text() -> String { sold.withLock { "orders placed: \($0.orders), \($0.total) €" } }
}

/// Puts what has been sold before a report of what is alive.
final class SalesReport: LiveReport {
  private let inner: any LiveReport
  private let sales: Sales

  init(_ inner: any LiveReport, _ sales: Sales) { (self.inner, self.sales) = (inner, sales) }

  func text() -> String { "\(sales.text())\n\(inner.text())" }
}
