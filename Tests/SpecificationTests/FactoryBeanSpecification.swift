import Beans
import BeansInject
import Testing

@Suite("A FactoryBean makes another bean") struct FactoryBeanSpecification {
  @FreshEnvironment private var environment

  @Test("Lookups of the target return the product, created once")
  func singleton() throws {
    try environment.define(environment.bean(CakeFactory.self).property(\.flavour, value: "lemon").target(Cake.self))
    let cake = try environment.getBean(Cake.self)
    #expect(cake.flavour == "lemon")
    #expect(try environment.getBean(Cake.self) === cake)
    #expect(try environment.getBean(CakeFactory.self).made == 1)
  }

  @Test("The id finds the product, & and the id the factory")
  func ids() throws {
    try environment.define(environment.bean(CakeFactory.self, id: "cake").target(Cake.self))
    try environment.define(environment.bean(Cake.self, id: "other", factory: { Cake("dry") }))
    #expect(try environment.getBean(Cake.self, byId: "cake").flavour == "plain")
    let factory = try environment.getBean(CakeFactory.self, byId: "&cake")
    #expect(try environment.getBean(CakeFactory.self) === factory)
    try requireFault(.unknownBean) { try environment.getBean(CakeFactory.self, byId: "&other") }
    try requireFault(.typeMismatch) { try environment.getBean(CakeFactory.self, byId: "cake") }
  }

  @Test("References reach both the product and its factory")
  func references() throws {
    try environment.define(environment.bean(Party.self).property(\.cake, ref: "cake").property(\.baker, ref: "&cake"))
    try environment.define(environment.bean(CakeFactory.self, id: "cake").target(Cake.self))
    let party = try environment.getBean(Party.self)
    #expect(try party.cake === environment.getBean(Cake.self))
    #expect(try party.baker === environment.getBean(CakeFactory.self))
  }

  @Test("An embedded factory bean yields its product, and so does a required one")
  func embedded() throws {
    let cake = environment.bean(CakeFactory.self, id: "cake").target(Cake.self)
    try environment.define(environment.bean(Party.self).property(\.cake, bean: cake).requires(id: "cake"))
    #expect(try environment.getBean(Party.self).cake === environment.getBean(Cake.self))
  }

  @Test("A prototype is created each time, by one factory")
  func prototype() throws {
    try environment.define(environment.bean(CakeFactory.self).scope("prototype").target(Cake.self))
    #expect(try environment.getBean(Cake.self) !== environment.getBean(Cake.self))
    #expect(try environment.getBean(CakeFactory.self).made == 2)
  }

  @Test("A factory's scope has its own factory bean and product in each child, which may use the seed")
  func request() throws {
    try environment.define(
      environment.bean(CakeFactory.self, factory: { (seed: Int) in CakeFactory("number \(seed)") })
        .scope("request").target(Cake.self))
    let requests = try environment.childFactory("request", seed: Int.self)
    let (first, second) = (try requests.build(1), try requests.build(2))
    #expect(try first.getBean(Cake.self).flavour == "number 1")
    #expect(try second.getBean(Cake.self).flavour == "number 2")
    #expect(try first.getBean(Cake.self) === first.getBean(Cake.self))
    try requireFault(.scopeNotActive) { try environment.getBean(Cake.self) }
    try environment.shutdown()
  }

  @Test("A user's scope keeps the product")
  func customScope() throws {
    try environment.registerScope(AbstractBeanScope(name: "kitchen"))
    try environment.define(environment.bean(CakeFactory.self).scope("kitchen").target(Cake.self))
    #expect(try environment.getBean(Cake.self) === environment.getBean(Cake.self))
    try environment.shutdown()
  }

  @Test("A lazy product is created by its first lookup")
  func lazy() throws {
    let made = Counter()
    try environment.define(
      environment.bean(CounterFactory.self, lazy: true, factory: { CounterFactory(made) }).target(Cake.self))
    try environment.startup()
    #expect(made.value == 0)
    _ = try environment.getBean(Cake.self)
    #expect(made.value == 1)
  }

  @Test("Protocols and values can be targets, and structs factories")
  func kinds() throws {
    try environment.define(
      environment.bean(DessertFactory.self, factory: { DessertFactory() }).target((any Dessert).self))
    try environment.define(environment.bean(PriceFactory(price: 7)).target(Int.self))
    #expect(try environment.getBean((any Dessert).self).flavour == "ice")
    #expect(try environment.getBean(Int.self) == 7)
  }

  @Test("A factory of objects may have a more special target")
  func objects() throws {
    try environment.define(environment.bean(AnyFactory.self, factory: { AnyFactory { Cake("any") } }).target(Cake.self))
    #expect(try environment.getBean(Cake.self).flavour == "any")
  }

  @Test("The factory bean and the product are processed, completed and released, the product first")
  func lifecycle() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Inspector.self, factory: { Inspector { journal.note("processed \(type(of: $0))") } }))
    try environment.define(
      environment.bean(NotingFactory.self, factory: { NotingFactory(journal) })
        .postConstruct { _ in journal.note("callback") }
        .onDestroy { _ in journal.note("factory gone") }
        .target(NotingCake.self))
    try environment.startup()
    #expect(
      journal.entries == [
        "processed NotingFactory", "constructed NotingFactory", "callback", "processed NotingCake",
        "constructed NotingCake",
      ])
    try environment.shutdown()
    #expect(journal.entries.suffix(3) == ["destroyed NotingCake", "destroyed NotingFactory", "factory gone"])
  }

  @Test("The product's own class is injected, and a missing bean of it is a fault")
  func injected() throws {
    try environment.define(environment.bean(KitchenFactory.self, factory: { KitchenFactory() }).target(Kitchen.self))
    try environment.define(environment.bean(CakeFactory.self).target(Cake.self))
    #expect(try environment.getBean(Kitchen.self).cake === environment.getBean(Cake.self))
    let second = try Environment()
    try second.define(second.bean(KitchenFactory.self, factory: { KitchenFactory() }).target(Kitchen.self))
    try requireFault(.unknownBean) { try second.startup() }
  }

  @Test("A template sets the target")
  func template() throws {
    try environment.define(
      environment.bean(CakeFactory.self, id: "baking", abstract: true).property(\.flavour, value: "nut").target(
        Cake.self))
    try environment.define(environment.bean(CakeFactory.self, id: "cake", parent: "baking"))
    #expect(try environment.getBean(Cake.self, byId: "cake").flavour == "nut")
  }

  @Test("The nearest environment's product hides an ancestor's of the same id")
  func hierarchy() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(CakeFactory.self, id: "cake").property(\.flavour, value: "old").target(Cake.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(CakeFactory.self, id: "cake").property(\.flavour, value: "new").target(Cake.self))
    #expect(try child.getBean(Cake.self, byId: "cake").flavour == "new")
    #expect(try child.getBean(CakeFactory.self, byId: "&cake").flavour == "new")
    #expect(try child.getBeansByType(Cake.self).map(\.flavour) == ["new"])
    #expect(try parent.getBean(Cake.self).flavour == "old")
  }

  @Test("The report names the product and its factory")
  func report() throws {
    try environment.define(environment.bean(CakeFactory.self, id: "cake").target(Cake.self))
    try environment.startup()
    #expect(environment.report().contains("- Cake \"cake\" factory: CakeFactory"))
  }

  // MARK: faults

  @Test("A missing target is a fault at startup")
  func missingTarget() throws {
    let line = #line + 1
    try environment.define(environment.bean(CakeFactory.self, id: "cake"))
    try requireFault(.invalidDeclaration, message: "target", through: "'cake'", line: line) {
      try environment.startup()
    }
  }

  @Test("A target of a bean that is no factory bean is a fault")
  func noFactory() throws {
    try environment.define(environment.bean(Cake.self, factory: { Cake("") }).target(Party.self))
    try requireFault(.invalidDeclaration) { try environment.startup() }
  }

  @Test("An optional or an array is no target")
  func wrapper() throws {
    try environment.define(environment.bean(CakeFactory.self).target([Cake].self))
    try environment.define(environment.bean(CakeFactory.self).target(Cake?.self))
    #expect(try startupFaults(of: environment).map(\.code) == [.invalidDeclaration, .invalidDeclaration])
  }

  @Test("A product that can never be the target is found at startup")
  func impossible() throws {
    try environment.define(environment.bean(CakeFactory.self).target(Party.self))
    try requireFault(.typeMismatch, message: "Cake", "Party") { try environment.startup() }
  }

  @Test("A product that is not the target is a type mismatch when it is created")
  func wrongProduct() throws {
    try environment.define(
      environment.bean(AnyFactory.self, lazy: true, factory: { AnyFactory { Party() } }).target(Cake.self))
    try environment.startup()
    try requireFault(.typeMismatch, message: "Party") { try environment.getBean(Cake.self) }
  }

  @Test("An error of create arrives as creationFailed of the product")
  func failure() throws {
    try environment.define(
      environment.bean(AnyFactory.self, id: "bad", lazy: true, factory: { AnyFactory { throw Boom() } })
        .target(Cake.self))
    try requireFault(.creationFailed, through: "'bad'", causes: [Boom()]) { try environment.getBean(Cake.self) }
  }

  @Test("An id that a factory takes with its & cannot be taken twice")
  func duplicate() throws {
    try environment.define(environment.bean(CakeFactory.self, id: "cake").target(Cake.self))
    try environment.define(environment.bean(Party.self, id: "&cake"))
    try requireFault(.duplicateId) { try environment.startup() }
  }

  @Test("An unknown scope is reported once for factory and product")
  func unknownScope() throws {
    try environment.define(environment.bean(CakeFactory.self).scope("nowhere").target(Cake.self))
    #expect(try startupFaults(of: environment).map(\.code) == [.unknownScope])
  }

  @Test("A cycle through a product is found at startup")
  func cycle() throws {
    try environment.define(
      environment.bean(AnyFactory.self, factory: { (_: Party) in AnyFactory { Cake("") } }).target(Cake.self))
    try environment.define(environment.bean(Party.self).property(\.cake, inject: InjectBean()))
    try requireFault(.cyclicDependency) { try environment.startup() }
  }

  @Test("A product declared as its type may be nil when it is created: a type mismatch then, no fault of startup")
  func anOptionalProductMayBeNil() throws {
    try environment.define(environment.bean(MaybeMaking<Int?>(product: nil)).target(Int.self).lazy())
    #expect(faults(of: environment).isEmpty)
    #expect(throws: EnvironmentError(.typeMismatch, "")) { try environment.getBean(Int.self) }
  }
}

private protocol Dessert { var flavour: String { get } }

private class Cake: Dessert {
  let flavour: String
  init(_ flavour: String) { self.flavour = flavour }
}

private final class Party: Initializable {
  var cake: Cake?
  var baker: CakeFactory?
  init() {}
}

private final class CakeFactory: Initializable, FactoryBean {
  var flavour: String
  var made = 0

  init() { flavour = "plain" }
  init(_ flavour: String) { self.flavour = flavour }

  func create() throws -> Cake {
    made += 1
    return Cake(flavour)
  }
}

private final class Kitchen {
  @Injected var cake: Cake
}

private final class KitchenFactory: FactoryBean {
  func create() -> Kitchen { Kitchen() }
}

private final class CounterFactory: FactoryBean {
  private let counter: Counter
  init(_ counter: Counter) { self.counter = counter }

  func create() -> Cake { counter.counting(Cake("counted")) }
}

private struct PriceFactory: FactoryBean {
  let price: Int
  func create() -> Int { price }
}

private final class DessertFactory: FactoryBean {
  struct Ice: Dessert { let flavour = "ice" }
  func create() -> any Dessert { Ice() }
}

private final class AnyFactory: FactoryBean {
  private let make: () throws -> AnyObject
  init(_ make: @escaping () throws -> AnyObject) { self.make = make }
  func create() throws -> AnyObject { try make() }
}

private class Noting: Bean, DisposableBean {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func postConstruct() { journal.note("constructed \(type(of: self))") }
  func preDestroy() { journal.note("destroyed \(type(of: self))") }
}

private final class NotingCake: Noting {}

private final class NotingFactory: Noting, FactoryBean {
  func create() -> NotingCake { NotingCake(journal) }
}

private struct MaybeMaking<Product>: FactoryBean {
  let product: Product
  func create() -> Product { product }
}
