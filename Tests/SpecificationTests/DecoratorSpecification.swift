import Beans
import Testing

private protocol Store: Sendable { var name: String { get } }

private final class DiskStore: Store {
  let name: String
  init(_ name: String = "disk") { self.name = name }
}

/// A store that decorates another one.
private final class Around: Store, DisposableBean {
  let inner: any Store
  private let word: String
  private let journal: Guarded<[String]>?

  init(_ inner: any Store, _ word: String = "around", _ journal: Guarded<[String]>? = nil) {
    (self.inner, self.word, self.journal) = (inner, word, journal)
  }

  var name: String { "\(word) \(inner.name)" }
  func preDestroy() { journal?.withLock { $0.append(name) } }
}

private final class Metrics: Initializable, Sendable {}

private final class Ledger: Sendable {
  let store: any Store
  init(store: any Store) { self.store = store }
}

private class Pump: @unchecked Sendable {  // immutable
  let word: String
  init(_ word: String) { self.word = word }
}

private final class LoudPump: Pump, @unchecked Sendable {}  // immutable

@Suite struct DecoratorSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A lookup by the type returns the decorator")
  func aLookupByTheTypeReturnsTheDecorator() throws {
    try environment
      .define(environment.decorate((any Store).self) { (inner: any Store, _: Metrics) in Around(inner) })
      .define(environment.bean(DiskStore.self, id: "main", factory: { DiskStore() }))
      .define(environment.bean(Metrics.self))
      .define(environment.bean(Ledger.self, factory: Ledger.init))
    let store = try environment.getBean((any Store).self)
    #expect(store.name == "around disk")
    #expect(try environment.getBean(Ledger.self).store as AnyObject === store as AnyObject)
    #expect(try environment.getBean((any Store)?.self)?.name == "around disk")
    #expect(try environment.getBean(Provider<any Store>.self).get().name == "around disk")
    #expect(try environment.getBean((any Store).self, byId: "main").name == "around disk")
    #expect(try environment.getBeansByType((any Store).self).map(\.name) == ["around disk"])
  }

  @Test("References by id or by declaration get the decorator, too")
  func referencesByIdOrByDeclarationGetTheDecoratorToo() throws {
    final class Owner: Initializable {
      var byName: (any Store)?
      var inPlace: any Store = DiskStore("none")
    }
    try environment
      .define(environment.bean(DiskStore.self, id: "main", factory: { DiskStore() }))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
      .define(environment.bean(Ledger.self, factory: Ledger.init).argument(0, ref: "main"))
      .define(
        environment.bean(Owner.self).property(\.byName, ref: "main")
          .property(\.inPlace, bean: environment.bean(DiskStore.self, factory: { DiskStore("inner") })))
    #expect(try environment.getBean(Ledger.self).store.name == "around disk")
    #expect(try environment.getBean(Owner.self).byName?.name == "around disk")
    #expect(try environment.getBean(Owner.self).inPlace.name == "around inner")
  }

  @Test("A lookup by another type returns the bean itself")
  func aLookupByAnotherTypeReturnsTheBeanItself() throws {
    try environment
      .define(environment.bean(DiskStore.self, id: "main", factory: { DiskStore() }))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    let disk = try environment.getBean(DiskStore.self)
    #expect(try (environment.getBean((any Store).self) as? Around)?.inner as AnyObject === disk)
    #expect(try environment.getBean(DiskStore.self, byId: "main") === disk)
    #expect(try environment.getBeansByType((any Sendable).self).count == 1)
  }

  @Test("The decorator that is defined first is next to the bean")
  func theDecoratorThatIsDefinedFirstIsNextToTheBean() throws {
    try environment
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner, "first") })
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner, "second") })
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner, "third") })
    #expect(try environment.getBean((any Store).self).name == "third second first disk")
  }

  @Test("Each bean of the type has a decorator of its own")
  func eachBeanOfTheTypeHasADecoratorOfItsOwn() throws {
    try environment
      .define(environment.bean(DiskStore.self, id: "one", factory: { DiskStore("one") }))
      .define(environment.bean(DiskStore.self, id: "two", factory: { DiskStore("two") }).primary())
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    #expect(try environment.getBeansByType((any Store).self).map(\.name) == ["around one", "around two"])
    #expect(try environment.getBean((any Store).self).name == "around two")
    #expect(try environment.getBean((any Store).self, byId: "one").name == "around one")
  }

  @Test("A class can be decorated by a subclass")
  func aClassCanBeDecoratedByASubclass() throws {
    try environment
      .define(environment.bean(Pump.self, id: "pump", factory: { Pump("pump") }))
      .define(environment.decorate(Pump.self) { (inner: Pump) in LoudPump("loud \(inner.word)") })
    #expect(try environment.getBean(Pump.self).word == "loud pump")
    #expect(try environment.getBean(Pump.self, byId: "pump").word == "loud pump")
    #expect(try environment.withBean(Pump.self) { $0.word } == "loud pump")
  }

  @Test("A value can be decorated")
  func aValueCanBeDecorated() throws {
    struct Limit: Sendable { let count: Int }
    try environment
      .define(environment.bean(Limit.self, factory: { Limit(count: 1) }))
      .define(environment.decorate(Limit.self) { (inner: Limit) in Limit(count: inner.count + 1) })
    #expect(try environment.getBean(Limit.self).count == 2)
  }

  @Test("The product of a factory bean can be decorated")
  func theProductOfAFactoryBeanCanBeDecorated() throws {
    final class Maker: Initializable, FactoryBean {
      func create() throws -> DiskStore { DiskStore("made") }
    }
    try environment
      .define(environment.bean(Maker.self).target(DiskStore.self))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    #expect(try environment.getBean((any Store).self).name == "around made")
  }

  @Test("Decorators are released before their beans")
  func decoratorsAreReleasedBeforeTheirBeans() throws {
    let journal = Guarded<[String]>([])
    try environment
      .define(
        environment.bean(DiskStore.self, factory: { DiskStore() }).onDestroy { disk in
          journal.withLock { $0.append(disk.name) }
        }
      )
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner, "a", journal) })
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner, "b", journal) })
    try environment.startup()
    try environment.shutdown()
    #expect(journal.withLock { $0 } == ["b a disk", "a disk", "disk"])
  }

  @Test("A decorator lives as long as its bean")
  func aDecoratorLivesAsLongAsItsBean() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }).scope("request"))
      .define(environment.bean(Pump.self, factory: { Pump("pump") }).scope("prototype"))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
      .define(environment.decorate(Pump.self) { (inner: Pump) in Pump("more \(inner.word)") })
    let requests = try environment.childFactory("request", seed: Int.self)
    #expect(try environment.getBean(Pump.self) !== environment.getBean(Pump.self))
    #expect(try requireFault { try environment.getBean((any Store).self) }.code == .scopeNotActive)
    let (one, two) = (try requests.build(1), try requests.build(2))
    let store = try one.getBean((any Store).self) as AnyObject
    #expect(try one.getBean((any Store).self) as AnyObject === store)
    #expect(try two.getBean((any Store).self) as AnyObject !== store)
    #expect(try one.getBean((any Store).self).name == "around disk")
  }

  @Test("A lazy bean is not built for its decorator")
  func aLazyBeanIsNotBuiltForItsDecorator() throws {
    let count = Guarded(0)
    try environment
      .define(
        environment.bean(DiskStore.self, lazy: true) {
          count.withLock { $0 += 1 }
          return DiskStore()
        }
      )
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    try environment.startup()
    #expect(count.withLock { $0 } == 0)
    #expect(try environment.getBean((any Store).self).name == "around disk")
  }

  @Test("A child decorates beans of its parent for itself and its children")
  func aChildDecoratesBeansOfItsParentForItselfAndItsChildren() throws {
    let parent = environment
    try parent
      .define(parent.bean(DiskStore.self, id: "main", factory: { DiskStore() }))
      .define(parent.bean(Ledger.self, factory: Ledger.init))
      .define(parent.decorate((any Store).self) { (inner: any Store) in Around(inner, "parent") })
    let child = try Environment(name: "shop", parent: parent)
    try child.define(child.decorate((any Store).self) { (inner: any Store) in Around(inner, "child") })
    let grandchild = try Environment(name: "shop", parent: child)
    try grandchild.define(grandchild.bean(Ledger.self, id: "own", factory: Ledger.init))
    #expect(try child.getBean((any Store).self).name == "child parent disk")
    #expect(try child.getBean((any Store).self, byId: "main").name == "child parent disk")
    #expect(try grandchild.getBean((any Store).self).name == "child parent disk")
    #expect(try grandchild.getBean(Ledger.self, byId: "own").store.name == "child parent disk")
    #expect(try parent.getBean((any Store).self).name == "parent disk")
    #expect(try child.getBean(Ledger.self).store.name == "parent disk")
  }

  @Test("A child's decorator is released with the child, and the parent's bean stays")
  func aChildsDecoratorIsReleasedWithTheChildAndTheParentsBeanStays() throws {
    let journal = Guarded<[String]>([])
    let parent = environment
    try parent.define(
      parent.bean(DiskStore.self, factory: { DiskStore() }).onDestroy { disk in
        journal.withLock { $0.append(disk.name) }
      })
    let requests = try parent.childFactory("request", seed: String.self) { request in
      try request.define(
        request.decorate((any Store).self) { (inner: any Store, seed: String) in Around(inner, seed, journal) })
    }
    func makeChild() throws -> Environment {
      let child = try Environment(name: "shop", parent: parent)
      try child.define(child.decorate((any Store).self) { (inner: any Store) in Around(inner, "child", journal) })
      return try child.startup()
    }
    try makeChild().shutdown()
    let request = try requests.build("request")
    _ = try request.getBean((any Store).self)
    request.finish()
    #expect(journal.withLock { $0 } == ["child disk", "request disk"])
    #expect(try parent.getBean((any Store).self).name == "disk")
    let child = try makeChild()
    try parent.shutdown()
    #expect(child.isFinished)
    #expect(journal.withLock { $0 } == ["child disk", "request disk", "child disk", "disk"])
  }

  @Test("Each child of a factory decorates for itself")
  func eachChildOfAFactoryDecoratesForItself() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.bean(Pump.self, factory: { Pump("pump") }).scope("prototype"))
    let sessions = try environment.childFactory("session", seed: Int.self) { session in
      try session
        .define(session.decorate((any Store).self) { (inner: any Store, seed: Int) in Around(inner, "\(seed)") })
        .define(session.decorate(Pump.self) { (inner: Pump) in Pump("session \(inner.word)") })
    }
    let requests = try sessions.childFactory("request", seed: String.self) { request in
      try request
        .define(request.decorate((any Store).self) { (inner: any Store, seed: String) in Around(inner, seed) })
        .define(request.bean(Ledger.self, factory: Ledger.init))
    }
    let session = try sessions.build(7)
    let request = try requests.build("r", in: session)
    #expect(try session.getBean((any Store).self).name == "7 disk")
    #expect(try request.getBean(Ledger.self).store.name == "r 7 disk")
    #expect(try request.getBean(Pump.self).word == "session pump")
    #expect(try environment.getBean((any Store).self).name == "disk")
    #expect(try sessions.build(8).getBean((any Store).self).name == "8 disk")
  }

  @Test("A prototype of a started parent is decorated anew")
  func aPrototypeOfAStartedParentIsDecoratedAnew() throws {
    let parent = environment
    try parent
      .define(parent.bean(Pump.self, factory: { Pump("pump") }).scope("prototype"))
      .define(parent.decorate(Pump.self) { (inner: Pump) in Pump("parent \(inner.word)") })
    try parent.startup()
    let child = try Environment(name: "shop", parent: parent)
    try child.define(child.decorate(Pump.self) { (inner: Pump) in Pump("child \(inner.word)") })
    #expect(try child.getBean(Pump.self).word == "child parent pump")
    #expect(try child.getBean(Pump.self) !== child.getBean(Pump.self))
    #expect(try parent.getBean(Pump.self).word == "parent pump")
  }

  @Test("A hidden bean is not decorated")
  func aHiddenBeanIsNotDecorated() throws {
    let parent = environment
    try parent.define(parent.bean(DiskStore.self, id: "main", factory: { DiskStore("outer") }))
    let child = try Environment(name: "shop", parent: parent)
    try child
      .define(child.bean(DiskStore.self, id: "main", factory: { DiskStore("inner") }))
      .define(child.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    #expect(try child.getBeansByType((any Store).self).map(\.name) == ["around inner"])
    #expect(try child.getBean((any Store).self, byId: "main").name == "around inner")
  }

  @Test("A decorator is processed and called back like any bean")
  func aDecoratorIsProcessedAndCalledBackLikeAnyBean() throws {
    final class Witness: Initializable, BeanPostProcessor {
      let seen = Guarded<[String]>([])
      func process(_ bean: AnyObject) throws -> AnyObject {
        if let store = bean as? any Store { seen.withLock { $0.append(store.name) } }
        return bean
      }
    }
    let called = Guarded<[String]>([])
    try environment
      .define(environment.bean(Witness.self))
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(
        environment.decorate((any Store).self) { (inner: any Store) in Around(inner) }
          .postConstruct { store in called.withLock { $0.append(store.name) } })
    #expect(try environment.getBean(Witness.self).seen.withLock { $0 } == ["disk", "around disk"])
    #expect(called.withLock { $0 } == ["around disk"])
  }

  @Test("A decorator may depend on a condition")
  func aDecoratorMayDependOnACondition() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) }.profile("production"))
    #expect(try environment.getBean((any Store).self).name == "disk")
    #expect(environment.report().contains("decorator of Store inactive: profile 'production' is not active"))
  }

  @Test("Reports and statistics count decorators")
  func reportsAndStatisticsCountDecorators() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
    try environment.startup()
    #expect(environment.report().contains("- decorator of Store\n"))
    #expect(environment.statistics().map(\.created) == [2])
    try environment.shutdown()
    #expect(environment.statistics().map(\.released) == [2])
  }
}

@Suite struct DecoratorFaultSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A decorator without a bean is a fault")
  func aDecoratorWithoutABeanIsAFault() throws {
    try environment
      .define(environment.decorate((any Store).self) { (inner: any Store) in Around(inner) })
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }).profile("production"))
    let fault = try requireFault { try environment.startup() }
    #expect(fault.code == .unknownBean)
    #expect(fault.message.contains("but inactive: profile 'production' is not active"))
    #expect(fault.isFrom(file: #fileID, line: #line - 5))
  }

  @Test("Dependencies of a decorator are part of the graph")
  func dependenciesOfADecoratorArePartOfTheGraph() throws {
    try environment
      .define(environment.bean(DiskStore.self, id: "one", factory: { DiskStore() }))
      .define(environment.bean(DiskStore.self, id: "two", factory: { DiskStore() }).scope("prototype").primary())
      .define(environment.decorate((any Store).self) { (inner: any Store, _: Metrics) in Around(inner) })
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    #expect(faults.first?.path == ["decorator of DiskStore 'one'", "Metrics"])
  }

  @Test("A circle through a decorator is drawn")
  func aCircleThroughADecoratorIsDrawn() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.bean(Ledger.self, factory: Ledger.init))
      .define(environment.decorate((any Store).self) { (inner: any Store, _: Ledger) in Around(inner) })
    let fault = try requireFault(through: "decorator of DiskStore") { try environment.startup() }
    #expect(fault.code == .cyclicDependency)
  }

  @Test("A decorator that holds a shorter lived bean is captive")
  func aDecoratorThatHoldsAShorterLivedBeanIsCaptive() throws {
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(environment.bean(Metrics.self).scope("request"))
      .define(environment.decorate((any Store).self) { (inner: any Store, _: Metrics) in Around(inner) })
    _ = try environment.childFactory("request", seed: Int.self)
    #expect(try requireFault { try environment.startup() }.code == .captiveDependency)
  }

  @Test("A decorator has no name, scope or template of its own")
  func aDecoratorHasNoNameScopeOrTemplateOfItsOwn() throws {
    func decorator() -> TypedBeanDeclaration<any Store> {
      environment.decorate((any Store).self) { (inner: any Store) in Around(inner) }
    }
    try environment
      .define(environment.bean(DiskStore.self, factory: { DiskStore() }))
      .define(decorator().id("decorator"))
      .define(decorator().scope("prototype"))
      .define(decorator().parent("template"))
      .define(decorator().argument(0, ref: "main"))
      .define(environment.decorate([Int].self) { (inner: [Int]) in inner })
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == Array(repeating: .invalidDeclaration, count: 5))
  }

  @Test("An error of a decorator names it and releases its bean")
  func anErrorOfADecoratorNamesItAndReleasesItsBean() throws {
    let released = Guarded(0)
    try environment
      .define(
        environment.bean(DiskStore.self, factory: { DiskStore() }).onDestroy { _ in released.withLock { $0 += 1 } }
      )
      .define(environment.decorate((any Store).self) { (_: any Store) -> any Store in throw Boom() })
    let fault = try requireFault(path: ["decorator of DiskStore"], causes: [Boom()]) { try environment.startup() }
    #expect(fault.code == .creationFailed)
    #expect(released.withLock { $0 } == 1)
  }
}
