import Beans
import Synchronization

// Marked listings stand in the article to the letter: see GuideTests.swift.

struct Composing {
  protocol Store: Sendable { var name: String { get } }
  struct DiskStore: Store { let name = "disk" }
  struct MemoryStore: Store { let name = "memory" }
  final class Metrics: Sendable {}
  final class Journal: Sendable {}
  struct Database: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }
  struct Reports: Sendable {
    let text: String
    init(_ main: Database, copiedTo replica: Database) { text = "\(main.name), \(replica.name)" }
  }
  struct Visitor: Sendable { let name: String }
  final class Archive: Sendable {
    let lines = Mutex<[String]>([])
    func write(_ line: String) { lines.withLock { $0.append(line) } }
  }
  final class Cursor: DisposableBean, Sendable {
    let isOpen = Mutex(true)
    func count() -> Int { isOpen.withLock { $0 ? 3 : 0 } }
    func preDestroy() { isOpen.withLock { $0 = false } }
  }
  struct Country: Hashable, Sendable { let code: String }
  protocol Payment: Sendable { func pay(_ amount: Int) -> String }
  struct Card: Payment { func pay(_ amount: Int) -> String { "\(amount) by card" } }
  struct Invoice: Payment { func pay(_ amount: Int) -> String { "\(amount) later" } }
  struct Account: Sendable { let balance: Int }
  final class Warehouse: Sendable {
    func account(of visitor: Visitor) async throws -> Account {
      await Task.yield()
      return Account(balance: visitor.name.count)
    }
    static func connect() async throws -> Warehouse {
      await Task.yield()
      return Warehouse()
    }
  }
  struct PriceList: Sendable {
    init(from warehouse: Warehouse) async throws { await Task.yield() }
  }
  final class Doors: Sendable { init(_ warehouse: Warehouse, _ prices: PriceList) {} }
  final class Till { var coins = 0 }
  final class Ledger { var rows = 0 }
  final class Gateway: Sendable {}
  final class Checkout: Sendable { init(gateway: Gateway) {} }
  struct Accounting: BeanModule {
    func configure(_ environment: Environment) throws {
      try environment.define(environment.bean(Journal.self, factory: Journal.init))
    }
  }
  struct CachingStore: Store {
    let inner: any Store
    var name: String { "cached \(inner.name)" }
    init(_ inner: any Store, _ metrics: Metrics) { self.inner = inner }
  }
}

extension Composing {
  // listing
  func declareStore(in shop: Environment) throws {
    try shop
      .define(shop.bean(DiskStore.self, id: "store", factory: { DiskStore() }).profile("production"))
      .define(shop.bean(MemoryStore.self, id: "store", factory: { MemoryStore() }).profile("!production"))
      .define(
        shop.bean(Metrics.self, factory: Metrics.init)
          .when("metrics are wanted") { try $0.getValue(Bool.self, key: "metrics", defaultValue: false) }
      )
      .define(shop.bean(Journal.self, factory: Journal.init).whenMissing(Metrics.self))
  }
  // end

  // listing
  func cacheStore(in shop: Environment) throws {
    try shop.define(
      shop.decorate((any Store).self) { (inner: any Store, metrics: Metrics) in CachingStore(inner, metrics) })
  }
  // end

  // listing
  struct Payments: BeanModule {
    func configure(_ environment: Environment) throws {
      try environment
        .include(Accounting())
        .define(environment.bean(Gateway.self, factory: Gateway.init).private())
        .define(environment.bean(Checkout.self, factory: Checkout.init))
    }
  }

  func makeShop() throws -> Environment {
    try Environment(name: "shop").include(Accounting()).include(Payments().profile("production"))
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
  struct OrderPlaced: Sendable { let number: Int }

  final class Invoices: EventListener, Sendable {
    let numbers = Mutex<[Int]>([])
    func receive(_ event: OrderPlaced) { numbers.withLock { $0.append(event.number) } }
  }

  func declareListeners(in shop: Environment) throws {
    try shop
      .define(shop.bean(Invoices.self, factory: Invoices.init))
      .define(
        shop.bean(Archive.self, lazy: true, factory: Archive.init)
          .listens { (archive, event: OrderPlaced) in archive.write("order \(event.number)") })
  }

  func placeOrder(_ number: Int, in request: Environment) throws {
    try request.publish(OrderPlaced(number: number))
  }
  // end

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

  // listing
  func openShop() async throws -> Environment {
    let shop = try Environment(name: "shop")
    try shop
      .define(shop.bean(Warehouse.self, async: { try await Warehouse.connect() }))
      .define(shop.bean(PriceList.self, async: { (warehouse: Warehouse) in try await PriceList(from: warehouse) }))
      .define(shop.bean(Doors.self) { (warehouse: Warehouse, prices: PriceList) in Doors(warehouse, prices) })
    return try await shop.ready()
  }
  // end

  // listing
  func declareVisits(in shop: Environment) throws -> EnvironmentFactory<Visitor> {
    try shop.childFactory("visit", seed: Visitor.self) { visit in
      try visit.define(
        visit.bean(
          Account.self,
          async: { (visitor: Visitor, warehouse: Warehouse) in
            try await warehouse.account(of: visitor)
          }))
    }
  }

  func balance(of visitor: Visitor, _ visits: EnvironmentFactory<Visitor>) async throws -> Int {
    try await visits.withChild(visitor) { visit in try await visit.readyBean(Account.self).balance }
  }
  // end

  // listing
  func checkSharing(of shop: Environment) throws {
    try shop
      .define(shop.bean(Till.self, factory: Till.init).confined(to: "the cashier's loop"))
      .define(shop.bean(Ledger.self, factory: Ledger.init).assumeSendable("locks by itself"))
      .startup(options: .requireSendable)
  }
  // end

  // listing
  func declareCheckout(in shop: BeanEnvironment) throws {
    try shop
      .define(Gateway.self, factory: Gateway.init)
      .define(Checkout.self, factory: Checkout.init) { $0.id("checkout").lazy() }
      .define(instance: Country(code: "NL")) { $0.id("home") }
  }

  func checkout(of shop: BeanEnvironment) throws -> (Checkout, home: Country) {
    let home: Country = try shop.getBean(byId: "home")
    return (try shop.getBean(), home)
  }
  // end
}
