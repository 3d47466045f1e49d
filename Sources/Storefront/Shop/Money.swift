/// An amount in euro cents.
struct Money: Hashable, Comparable, Sendable, CustomStringConvertible {
  let cents: Int64

  init(cents: Int64) { self.cents = cents }

  static let zero = Money(cents: 0)
  /// The most that one piece of anything may cost.
  static let maximum = Money(cents: 100_000_000)

  static func < (left: Money, right: Money) -> Bool { left.cents < right.cents }
  static func + (left: Money, right: Money) -> Money { Money(cents: left.cents + right.cents) }
  static func * (left: Money, right: Int) -> Money { Money(cents: left.cents * Int64(right)) }

  /// `12.90`, without the currency.
  var description: String {
    let (euros, cents) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
    return "\(self.cents < 0 ? "-" : "")\(euros).\(cents < 10 ? "0" : "")\(cents)"
  }
}
