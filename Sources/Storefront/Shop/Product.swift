/// Something the shop sells.
struct Product: Equatable, Sendable {
  let id: Int64
  let sku: String
  let name: String
  let description: String
  /// One emoji that stands for a picture.
  let symbol: String
  let price: Money
  /// Sold only while stocks last.
  let isLimited: Bool
}
