import Beans
import Synchronization
import Testing

@Suite("The articles on declarations") struct DeclaringGuideTests {
  @Test(
    "Each listing is compiled to the letter",
    arguments: ["Composing", "ChoosingAParameter", "Events", "AsynchronousBeans", "SharingBetweenThreads"])
  func listings(article name: String) throws {
    let article = try Article(name, listings: "\(name)Listings")
    #expect(!article.blocks("swift").isEmpty)
    #expect(article.blocks("swift") == article.compiled)
  }

  @Test("Getting started: each request is built from its seed and the application's bean")
  func terms() throws {
    let shop = try Environment(name: "shop")
    defer { shop.finish() }
    try shop.define(Database.self, factory: Database.init)
    let requests = try shop.childFactory("request", seed: Visitor.self) { request in
      try request.define(Greeting.self, factory: Greeting.init)
    }
    try shop.startup()
    let greetings = try ["Ada", "Grace"].map { name in
      try requests.withChild(Visitor(name: name)) { request in try request.getBean(Greeting.self).text }
    }
    #expect(greetings == ["Hello, Ada!", "Hello, Grace!"])
  }

  private struct Visitor: Sendable { let name: String }

  private final class Database: Sendable {}

  private final class Greeting: Sendable {
    let text: String
    init(visitor: Visitor, database: Database) { text = "Hello, \(visitor.name)!" }
  }

  @Test("Composing: the configuration selects the active declarations")
  func conditions() throws {
    for (profiles, metrics, store) in [("production", false, "disk"), ("test", true, "memory")] {
      let shop = try Environment(name: "shop")
      try shop.define(
        shop.settings().setValue(key: "beans.profiles", value: profiles).setValue(key: "metrics", value: metrics))
      try Composing().declareStore(in: shop)
      #expect(try shop.getBean((any Composing.Store).self, byId: "store").name == store)
      let beans = (try shop.getBean(Composing.Metrics?.self), try shop.getBean(Composing.Journal?.self))
      #expect((beans.0 != nil, beans.1 != nil) == (metrics, !metrics))
    }
  }

  @Test("Composing: a lookup of the protocol returns the decorator")
  func decorators() throws {
    let shop = try Environment(name: "shop")
    try shop.define(shop.bean(Composing.DiskStore.self, factory: { .init() }))
    try shop.define(shop.bean(Composing.Metrics.self, factory: { .init() }))
    try Composing().cacheStore(in: shop)
    #expect(try shop.getBean((any Composing.Store).self).name == "cached disk")
    #expect(try shop.getBean(Composing.DiskStore.self).name == "disk")
  }

  @Test("Composing: a module declares related beans, and keeps one private")
  func modules() throws {
    let shop = try Composing().makeShop()
    try shop.define(shop.settings().setValue(key: "beans.profiles", value: "production"))
    #expect(try shop.getBean(Composing.Checkout?.self) != nil)
    #expect(try shop.getBean(Composing.Gateway?.self) == nil)
    #expect(try shop.getBeansByType(Composing.Journal.self).count == 1)
  }

  @Test("Composing: short forms declare the beans, and their context selects them")
  func shortForms() throws {
    let shop = try Environment(name: "shop")
    try Composing().declareCheckout(in: shop)
    let (checkout, home) = try Composing().checkout(of: shop)
    #expect(try shop.getBean(Composing.Checkout.self, byId: "checkout") === checkout)
    #expect(home.code == "NL")
    try shop.shutdown()
  }

  @Test("Choosing a parameter: a bean takes all beans of a type, as a set or by their ids")
  func collections() throws {
    let shop = try Environment(name: "shop")
    try ChoosingAParameter().declareCounter(in: shop)
    let counter = try shop.getBean(ChoosingAParameter.Counter.self)
    #expect(Set(counter.countries.map(\.code)) == ["DE", "FR"])
    #expect(counter.pay(3, by: "card") == "3 by card" && counter.pay(3, by: "invoice") == "3 later")
    #expect(counter.pay(3, by: "cheque") == nil)
  }

  @Test("Choosing a parameter: a tag distinguishes two databases")
  func qualifiers() throws {
    let shop = try Environment(name: "shop")
    try ChoosingAParameter().declareDatabases(in: shop)
    #expect(try shop.getBean(ChoosingAParameter.Reports.self).text == "main, replica")
  }

  @Test("Choosing a parameter: a declaration passes the bean of an id, and a wrong id is a fault")
  func byId() throws {
    let shop = try Environment(name: "shop")
    try ChoosingAParameter().declareBackup(in: shop)
    #expect(try shop.getBean(ChoosingAParameter.Backup.self).database.name == "replica")
    let other = try Environment(name: "other")
    try other.define(
      other.bean(ChoosingAParameter.Backup.self, factory: ChoosingAParameter.Backup.init).argument(0, ref: "replica"))
    let error = #expect(throws: EnvironmentError.self) { try other.startup() }
    #expect(error?.code == .unknownBean)
  }

  @Test("Choosing a parameter: a singleton reaches the running request")
  func relationships() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    try shop
      .define(shop.bean(ChoosingAParameter.Audit.self, factory: ChoosingAParameter.Audit.init))
      .define(shop.bean(ChoosingAParameter.Archive.self, factory: ChoosingAParameter.Archive.init))
    let requests = try shop.childFactory("request", seed: ChoosingAParameter.Visitor.self)
    let audit = try shop.getBean(ChoosingAParameter.Audit.self)
    try requests.withChild(.init(name: "Ada")) { _ throws in try audit.record("came") }
    #expect(try shop.getBean(ChoosingAParameter.Archive.self).lines.all == ["Ada: came"])
  }

  @Test("Choosing a parameter: a taker releases its owned bean")
  func owned() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let released = Mutex(0)
    try shop
      .define(
        shop.bean(ChoosingAParameter.Cursor.self, factory: ChoosingAParameter.Cursor.init).scope("prototype")
          .onDestroy { _ in released.withLock { $0 += 1 } }
      )
      .define(shop.bean(ChoosingAParameter.Catalogue.self, factory: ChoosingAParameter.Catalogue.init))
    #expect(try shop.getBean(ChoosingAParameter.Catalogue.self).rows() == 3)
    #expect(released.withLock { $0 } == 1)
  }

  @Test("Events: two beans receive an order that a request publishes")
  func events() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    try Events().declareListeners(in: shop)
    let requests = try shop.childFactory("request", seed: Int.self)
    try requests.withChild(7) { request in try Events().placeOrder(7, in: request) }
    #expect(try shop.getBean(Events.Invoices.self).numbers.withLock { $0 } == [7])
    #expect(try shop.getBean(Events.Archive.self).lines.withLock { $0 } == ["order 7"])
  }

  @Test("Asynchronous beans: the shop opens when all beans are ready")
  func awaited() async throws {
    let shop = try await AsynchronousBeans().openShop()
    #expect(try shop.getBean(AsynchronousBeans.Doors?.self) != nil)
    try await shop.shutdown()
  }

  @Test("Asynchronous beans: a lookup in a child awaits the child's bean")
  func awaitedInAChild() async throws {
    let shop = try Environment(name: "shop")
    try shop.define(
      shop.bean(AsynchronousBeans.Warehouse.self, async: { try await AsynchronousBeans.Warehouse.connect() }))
    let visits = try AsynchronousBeans().declareVisits(in: shop)
    #expect(try await AsynchronousBeans().balance(of: .init(name: "Ada"), visits) == 3)
    try await shop.shutdown()
  }

  @Test("Sharing between threads: each shared bean is Sendable, or the report has the reason")
  func sharing() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    try SharingBetweenThreads().checkSharing(of: shop)
    #expect(shop.report().contains("Till assumed to be Sendable: the cashier's loop uses it"))
  }
}
