// Marked listings stand in the article to the letter: see ListingTests.swift.

struct Troubleshooting {
  // listing
  func explain(_ shop: Environment) throws {
    try shop.startup()
    print(shop.report())
  }
  // end
}

// listing
import Beans
import Testing

// end

extension Troubleshooting {
  // continued
  struct LoanTests {
    struct Reader: Sendable { let name: String }

    final class Loan: Sendable {
      let days = 14
      init(reader: Reader) {}
    }

    @Test func aLoanLastsForTwoWeeks() throws {
      let library = try Environment(name: "library")
      let visits = try library.childFactory("visit", seed: Reader.self) { visit in
        try visit.define(visit.bean(Loan.self, factory: Loan.init))
      }
      try visits.withChild(Reader(name: "Ada")) { visit in
        let loan = try visit.getBean(Loan.self)
        #expect(loan.days == 14)
      }
      try library.shutdown()
    }
  }
  // end

  // listing
  final class Database: Sendable {}

  final class Pool: Sendable {
    let size: Int
    init(database: Database, size: Int = 10) { self.size = size }
  }

  func declarePools(in shop: Environment) throws {
    try shop
      .define(shop.bean(Database.self, factory: Database.init))
      .define(shop.bean(Pool.self, id: "standard") { (database: Database) in Pool(database: database) })
      .define(shop.bean(Pool.self, id: "large", factory: Pool.init).argument(1, value: 100))
  }
  // end
}
