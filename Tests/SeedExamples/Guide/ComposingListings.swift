import Beans

// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

struct Composing {
  protocol Store: Sendable { var name: String { get } }
  struct DiskStore: Store { let name = "disk" }
  struct MemoryStore: Store { let name = "memory" }
  final class Metrics: Sendable {}
  final class Journal: Sendable {}
  struct Country: Hashable, Sendable { let code: String }
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
  func declareCheckout(in shop: Beans.Environment) throws {
    try shop
      .define(Gateway.self, factory: Gateway.init)
      .define(Checkout.self, factory: Checkout.init) { $0.id("checkout").lazy() }
      .define(instance: Country(code: "NL")) { $0.id("home") }
  }

  func checkout(of shop: Beans.Environment) throws -> (Checkout, home: Country) {
    let home: Country = try shop.getBean(byId: "home")
    return (try shop.getBean(), home)
  }
  // end
}
