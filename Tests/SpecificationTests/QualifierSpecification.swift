import Beans
import Testing

private enum Replica {}
private enum Archive {}

private protocol Store: Sendable { var name: String { get } }

private final class Depot: Store {
  let name: String
  init(_ name: String) { self.name = name }
}

private final class Reports: Sendable {
  let primary: Depot
  let replica: Qualified<Replica, Depot>
  init(primary: Depot, replica: Qualified<Replica, Depot>) { (self.primary, self.replica) = (primary, replica) }
}

@Suite struct QualifierSpecification {
  @FreshEnvironment("shop") private var environment

  private func makeEnvironment() throws -> Environment {
    let environment = try Environment(name: "shop")
    return
      try environment
      .define(environment.bean(Depot.self, id: "main", factory: { Depot("main") }).primary())
      .define(environment.bean(Depot.self, factory: { Depot("one") }).qualifier(Replica.self))
      .define(
        environment.bean(Depot.self, factory: { Depot("two") }).qualifier(Archive.self).qualifier(Replica.self)
          .lazy())
  }

  @Test("A tag distinguishes beans of one type")
  func aTagDistinguishesBeansOfOneType() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    #expect(try environment.getBean(Qualified<Archive, Depot>.self).value.name == "two")
    #expect(try environment.getBean(Qualified<Archive, Depot>.self).value.name == "two")
    #expect(try environment.getBean(Qualified<Archive, any Store>.self).value.name == "two")
    #expect(try environment.getBean(Depot.self).name == "main")
  }

  @Test("A parameter names its tag")
  func aParameterNamesItsTag() throws {
    try environment
      .define(environment.bean(Reports.self, factory: Reports.init))
      .define(environment.bean(Depot.self, factory: { Depot("main") }).primary())
      .define(environment.bean(Depot.self, factory: { Depot("replica") }).qualifier(Replica.self))
    let reports = try environment.getBean(Reports.self)
    #expect(reports.primary.name == "main")
    #expect(reports.replica.value.name == "replica")
    #expect(try environment.getBean(Qualified<Replica, Depot>.self).value === reports.replica.value)
  }

  @Test("A tagged prototype may be owned")
  func aTaggedPrototypeMayBeOwned() throws {
    final class Taker: Sendable {
      let one: Owned<Qualified<Archive, Depot>>
      let all: [Owned<Qualified<Replica, Depot>>]
      init(one: Owned<Qualified<Archive, Depot>>, all: [Owned<Qualified<Replica, Depot>>]) {
        (self.one, self.all) = (one, all)
      }
    }
    let released = Guarded<[String]>([])
    func depot(_ name: String) -> TypedBeanDeclaration<Depot> {
      environment.bean(Depot.self, factory: { Depot(name) }).scope("prototype")
        .onDestroy { depot in released.withLock { $0.append(depot.name) } }
    }
    try environment
      .define(depot("plain"))
      .define(depot("one").qualifier(Replica.self))
      .define(depot("two").qualifier(Replica.self).qualifier(Archive.self))
      .define(environment.bean(Taker.self, factory: Taker.init))
    let taker = try environment.getBean(Taker.self)
    #expect(try taker.one.get().value.name == "two")
    #expect(try taker.one.get().value === taker.one.get().value)
    #expect(try taker.all.map { try $0.get().value.name } == ["one", "two"])
    let provided = try environment.getBean(Provider<Owned<Qualified<Archive, Depot>>>.self).get()
    try provided.release()
    #expect(released.withLock { $0 } == ["two"])
    try environment.shutdown()
    #expect(released.withLock { $0 } == ["two", "two", "one", "two"])
  }

  @Test("Qualified beans are injected as collections, optionals and providers")
  func qualifiedBeansAreInjectedAsCollectionsOptionalsAndProviders() throws {
    enum Unused {}
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    let all = try environment.getBean([Qualified<Replica, Depot>].self)
    #expect(all.map(\.value.name) == ["one", "two"])
    #expect(try environment.getBean(Qualified<Archive, Depot>?.self)?.value.name == "two")
    #expect(try environment.getBean(Qualified<Unused, Depot>?.self) == nil)
    #expect(try environment.getBean([Qualified<Unused, Depot>].self).isEmpty)
    #expect(try environment.getBean(Provider<Qualified<Archive, Depot>>.self).get().value.name == "two")
  }

  @Test("The nearest environment with a tagged bean decides")
  func theNearestEnvironmentWithATaggedBeanDecides() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request
        .define(request.bean(Depot.self, factory: { Depot("own") }).qualifier(Archive.self))
        .define(
          request.bean(Reports.self) { (database: Qualified<Archive, Depot>, other: Qualified<Archive, any Store>) in
            Reports(primary: database.value, replica: Qualified(Depot(other.value.name)))
          })
    }
    let request = try requests.build(1)
    #expect(try request.getBean(Reports.self).primary.name == "own")
    #expect(try request.getBean(Reports.self).replica.value.name == "own")
    #expect(try request.getBean([Qualified<Replica, Depot>].self).map(\.value.name) == ["one", "two"])
  }

  @Test("Several beans of one tag are ambiguous unless one is primary")
  func severalBeansOfOneTagAreAmbiguousUnlessOneIsPrimary() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    try requireFault(.ambiguousBean) { try environment.getBean(Qualified<Replica, Depot>.self).value }
  }

  @Test("A tag that no bean has is a fault")
  func aTagThatNoBeanHasIsAFault() throws {
    try environment
      .define(environment.bean(Depot.self, id: "main", factory: { Depot("main") }))
      .define(environment.bean(Reports.self, factory: Reports.init))
      .define(environment.bean(Reports.self, id: "pinned", factory: Reports.init).argument(1, ref: "main"))
      .define(
        environment.bean(Reports.self, id: "nested") { (_: Qualified<Replica, [Depot]>) in
          Reports(primary: Depot("a"), replica: Qualified(Depot("b")))
        })
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .typeMismatch, .invalidDeclaration])
    #expect(faults[0].message.contains("no bean of type Depot with qualifier Replica"))
  }

  @Test("Ids and decorators support tags")
  func idsAndDecoratorsSupportTags() throws {
    try environment
      .define(environment.bean(Depot.self, id: "main", factory: { Depot("main") }).qualifier(Replica.self))
      .define(environment.decorate((any Store).self) { (inner: any Store) in Depot("decorated \(inner.name)") })
      .define(
        environment.bean(Reports.self) { (database: Qualified<Replica, Depot>) in
          Reports(primary: database.value, replica: database)
        }.argument(0, ref: "main"))
    #expect(try environment.getBean(Reports.self).primary.name == "main")
    #expect(try environment.getBean(Qualified<Replica, any Store>.self).value.name == "decorated main")
  }

  @Test("A factory bean's product has its tag")
  func aFactoryBeansProductHasItsTag() throws {
    final class Maker: Initializable, FactoryBean {
      func create() throws -> Depot { Depot("made") }
    }
    try environment.define(environment.bean(Maker.self).target(Depot.self).qualifier(Replica.self))
    #expect(try environment.getBean(Qualified<Replica, Depot>.self).value.name == "made")
  }
}
