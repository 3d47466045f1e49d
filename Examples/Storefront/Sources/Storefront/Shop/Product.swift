/// A product of the shop.
struct Product: Equatable, Sendable {
  let id: Int64
  let sku: String
  let name: String
  let description: String
  /// One emoji in place of a picture.
  let symbol: String
  let price: Money
  /// Whether the product is sold only while stocks last.
  let isLimited: Bool
}
