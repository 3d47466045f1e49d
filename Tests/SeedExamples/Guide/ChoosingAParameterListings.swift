import Beans

// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

struct ChoosingAParameter {
  struct Database: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }
  struct Reports: Sendable {
    let text: String
    init(_ main: Database, copiedTo replica: Database) { text = "\(main.name), \(replica.name)" }
  }
  struct Backup: Sendable { let database: Database }
  struct Visitor: Sendable { let name: String }
  final class Archive: Sendable {
    let lines = Recorded<String>()
    func write(_ line: String) { lines.append(line) }
  }
  final class Cursor: DisposableBean, Sendable {
    private let ends = Recorded<Void>()
    func count() -> Int { ends.all.isEmpty ? 3 : 0 }
    func preDestroy() { ends.append(()) }
  }
  struct Country: Hashable, Sendable { let code: String }
  protocol Payment: Sendable { func pay(_ amount: Int) -> String }
  struct Card: Payment { func pay(_ amount: Int) -> String { "\(amount) by card" } }
  struct Invoice: Payment { func pay(_ amount: Int) -> String { "\(amount) later" } }
}

extension ChoosingAParameter {
  // listing
  final class Counter: Sendable {
    let countries: Set<Country>
    private let payments: [String: any Payment]

    init(countries: Set<Country>, payments: [String: any Payment]) {
      (self.countries, self.payments) = (countries, payments)
    }

    func pay(_ amount: Int, by method: String) -> String? { payments[method]?.pay(amount) }
  }

  func declareCounter(in shop: Environment) throws {
    try shop
      .define(shop.bean(Country(code: "DE")))
      .define(shop.bean(Country(code: "FR")))
      .define(shop.bean(Card.self, id: "card", factory: Card.init))
      .define(shop.bean(Invoice.self, id: "invoice", factory: Invoice.init))
      .define(shop.bean(Counter.self, factory: Counter.init))
  }
  // end

  // listing
  enum Replica {}

  func declareDatabases(in shop: Environment) throws {
    try shop
      .define(shop.bean(Database.self, factory: { Database("main") }).primary())
      .define(shop.bean(Database.self, factory: { Database("replica") }).qualifier(Replica.self))
      .define(
        shop.bean(Reports.self) { (main: Database, replica: Qualified<Replica, Database>) in
          Reports(main, copiedTo: replica.value)
        })
  }
  // end

  // listing
  func declareBackup(in shop: Environment) throws {
    try shop
      .define(shop.bean(Database.self, id: "main", factory: { Database("main") }))
      .define(shop.bean(Database.self, id: "replica", factory: { Database("replica") }))
      .define(shop.bean(Backup.self, factory: Backup.init).argument(0, ref: "replica"))
  }
  // end

  // listing
  final class Audit: Sendable {
    private let visitor: Current<Visitor>
    private let archive: Lazy<Archive>

    init(visitor: Current<Visitor>, archive: Lazy<Archive>) { (self.visitor, self.archive) = (visitor, archive) }

    func record(_ event: String) throws { try archive.get().write("\(visitor.get().name): \(event)") }
  }
  // end

  // listing
  final class Catalogue: Sendable {
    private let cursors: Provider<Owned<Cursor>>

    init(cursors: Provider<Owned<Cursor>>) { self.cursors = cursors }

    func rows() throws -> Int {
      let cursor = try cursors.get()
      defer { try? cursor.release() }
      return try cursor.get().count()
    }
  }
  // end
}
