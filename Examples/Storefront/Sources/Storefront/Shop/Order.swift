/// A placed order, as stored.
struct Order: Equatable, Sendable {
  struct Line: Equatable, Sendable {
    let product: Int64
    let name: String
    let quantity: Int
    /// The price of one piece, on the day of the order.
    let price: Money
  }

  let id: String
  /// The time of the order in seconds since 1970, UTC.
  let placedAt: Int64
  let total: Money
  let lines: [Line]
}
