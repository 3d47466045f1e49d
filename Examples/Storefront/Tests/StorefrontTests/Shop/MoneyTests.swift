import Testing

@testable import Storefront

@Suite struct MoneyTests {
  @Test func moneyIsWrittenInEuros() {
    for (cents, text) in [
      (0, "0.00"), (5, "0.05"), (-5, "-0.05"), (1290, "12.90"), (-1290, "-12.90"), (.max, "92233720368547758.07"),
      (.min, "-92233720368547758.08"),
    ] {
      #expect(Money(cents: Int64(cents)).description == text)
    }
  }

  @Test func moneyIsAddedAndMultiplied() {
    #expect(Money(cents: 3) + Money(cents: -5) == Money(cents: -2))
    #expect(Money(cents: 3) * 4 == Money(cents: 12))
    #expect(Money(cents: -3) * 0 == .zero)
  }

  /// No amount ends the process.
  @Test func moneySaturatesAtTheEndsOfItsRange() async {
    await #expect(processExitsWith: .success) {
      let (least, greatest) = (Money(cents: .min), Money(cents: .max))
      precondition(greatest + Money(cents: 1) == greatest)
      precondition(least + Money(cents: -1) == least)
      precondition(greatest + least == Money(cents: -1))
      precondition(greatest * 2 == greatest && least * -1 == greatest && least * -2 == greatest)
      precondition(greatest * -2 == least && least * 2 == least)
    }
  }
}
