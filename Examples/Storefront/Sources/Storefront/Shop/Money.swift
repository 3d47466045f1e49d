/// An amount in euro cents. A sum or product that is out of range is clamped to the greatest or the least amount.
struct Money: Hashable, Comparable, Sendable, CustomStringConvertible {
  let cents: Int64

  init(cents: Int64) { self.cents = cents }

  static let zero = Money(cents: 0)
  /// The maximum price of one piece of any product.
  static let maximum = Money(cents: 100_000_000)

  static func < (left: Money, right: Money) -> Bool { left.cents < right.cents }
  static func + (left: Money, right: Money) -> Money {
    let (sum, isOut) = left.cents.addingReportingOverflow(right.cents)
    return Money(cents: isOut ? (left.cents < 0 ? .min : .max) : sum)
  }

  static func * (left: Money, right: Int) -> Money {
    let (product, isOut) = left.cents.multipliedReportingOverflow(by: Int64(right))
    return Money(cents: isOut ? ((left.cents < 0) == (right < 0) ? .max : .min) : product)
  }

  /// The amount without the currency, such as `12.90`.
  var description: String {
    let (euros, cents) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
    return "\(self.cents < 0 ? "-" : "")\(euros).\(cents < 10 ? "0" : "")\(cents)"
  }
}
