import Beans
import Testing

@Suite("Abstract beans and templates") struct TemplateSpecification {
  @FreshEnvironment private var environment

  @Test("An abstract bean is never instantiated")
  func neverInstantiated() throws {
    let built = Counter()
    try environment.define(
      environment.bean(Store.self, id: "template", abstract: true, factory: { built.counting(Store()) }))
    try environment.startup()
    try requireFault { try environment.getBean(Store.self, byId: "template") }
    try environment.shutdown()
    #expect(built.value == 0)
  }

  @Test("An abstract bean is never found by type")
  func neverFoundByType() throws {
    try environment.define(environment.bean(Store.self, id: "template", abstract: true))
    try environment.startup()
    try requireFault(.unknownBean) { try environment.getBean(Store.self) }
    #expect(try environment.getBeansByType(Store.self).isEmpty)
    #expect(try environment.getBean(Store?.self) === nil)
  }

  @Test("An abstract bean does not make its child ambiguous")
  func childIsTheOnlyCandidate() throws {
    try environment.define(environment.bean(Store.self, id: "template", abstract: true).property(\.url, value: "file:"))
    try environment.define(environment.bean(Store.self, parent: "template").property(\.name, value: "orders"))
    let store = try environment.getBean(Store.self)
    #expect(store.url == "file:")
    #expect(store.name == "orders")
  }

  @Test("A dependency on a type that only a template has is an unknown bean")
  func dependencyOnTemplate() throws {
    try environment.define(environment.bean(Store.self, id: "template", abstract: true))
    try environment.define(environment.bean(Shop.self, factory: Shop.init))
    try requireFault(.unknownBean) { try environment.startup() }
  }

  @Test("A template may lack a class")
  func withoutClass() throws {
    try environment.define(environment.template("ephemeral").scope("prototype"))
    try environment.define(environment.bean(Store.self, parent: "ephemeral"))
    #expect(try environment.getBean(Store.self) !== environment.getBean(Store.self))
  }

  @Test("A chain without a class anywhere is an invalid declaration")
  func noClassAnywhere() throws {
    try environment.define(environment.template("base"))
    try environment.define(environment.template("concrete").parent("base").abstract(false))
    try requireFault(.invalidDeclaration, description: "concrete") { try environment.startup() }
  }

  @Test(
    "Templates may be chained in any order of declaration",
    arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func anyOrder(order: [Int]) throws {
    let declarations: [BeanDeclaration] = [
      environment.bean(Store.self, id: "base", abstract: true).property(\.url, value: "file:"),
      environment.bean(Store.self, id: "tuned", parent: "base", abstract: true).property(\.timeout, value: 5),
      environment.bean(Store.self, parent: "tuned").property(\.name, value: "orders"),
    ]
    for index in order { try environment.define(declarations[index]) }
    let store = try environment.getBean(Store.self)
    #expect(store.url == "file:")
    #expect(store.timeout == 5)
    #expect(store.name == "orders")
  }

  // MARK: inheritance

  @Test("The class and its factory are inherited")
  func inheritsClass() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true, factory: { Store(name: "made") }))
    try environment.define(environment.template("concrete").parent("base").abstract(false))
    #expect(try environment.getBean(Store.self).name == "made")
    #expect(try environment.getBean(Store.self, byId: "concrete").name == "made")
  }

  @Test("The factory is inherited even by a class with an init() of its own")
  func inheritsFactory() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true, factory: { Store(name: "made") }))
    try environment.define(environment.bean(Store.self, parent: "base"))
    #expect(try environment.getBean(Store.self).name == "made")
  }

  @Test("A factory of the child replaces the template's")
  func replacesFactory() throws {
    let built = Counter()
    try environment.define(
      environment.bean(Store.self, id: "base", abstract: true, factory: { built.counting(Store(name: "template's")) }))
    try environment.define(environment.bean(Store.self, parent: "base", factory: { Store(name: "own") }))
    #expect(try environment.getBean(Store.self).name == "own")
    #expect(built.value == 0)
  }

  @Test("Properties are inherited, the child's own come before the template's")
  func overridesProperties() throws {
    try environment.define(
      environment.bean(Store.self, id: "base", abstract: true)
        .property(\.url, value: "file:").property(\.timeout, value: 1))
    try environment.define(environment.bean(Store.self, id: "a", parent: "base").property(\.timeout, value: 2))
    try environment.define(environment.bean(Store.self, id: "b", parent: "base"))
    let a = try environment.getBean(Store.self, byId: "a")
    let b = try environment.getBean(Store.self, byId: "b")
    #expect(a.url == "file:" && a.timeout == 2)
    #expect(b.url == "file:" && b.timeout == 1)
  }

  @Test("A template for a class serves its subclasses")
  func subclassOfTemplate() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true).property(\.timeout, value: 3))
    try environment.define(environment.bean(CachingStore.self, parent: "base").property(\.capacity, value: 10))
    let store = try environment.getBean(CachingStore.self)
    #expect(store.timeout == 3 && store.capacity == 10)
  }

  @Test("Pinned arguments are inherited and may be pinned anew")
  func inheritsArguments() throws {
    try environment.define(
      environment.bean(Endpoint.self, id: "base", abstract: true, factory: Endpoint.init)
        .argument(0, value: "localhost").argument(1, value: 80))
    try environment.define(environment.bean(Endpoint.self, id: "tls", parent: "base").argument(1, value: 443))
    let endpoint = try environment.getBean(Endpoint.self)
    #expect(endpoint.host == "localhost" && endpoint.port == 443)
  }

  @Test("Scope and lazy are inherited")
  func inheritsScopeAndLazy() throws {
    let built = Counter()
    let counting: @Sendable () -> Store = { built.counting(Store()) }
    try environment.define(environment.template("ephemeral").scope("prototype"))
    try environment.define(environment.template("later").lazy())
    try environment.define(environment.bean(Store.self, id: "a", parent: "ephemeral", factory: counting))
    try environment.define(environment.bean(Store.self, id: "b", parent: "later", factory: counting))
    try environment.startup()
    #expect(built.value == 0)
    #expect(try environment.getBean(Store.self, byId: "a") !== environment.getBean(Store.self, byId: "a"))
    #expect(try environment.getBean(Store.self, byId: "b") === environment.getBean(Store.self, byId: "b"))
    #expect(built.value == 3)
  }

  @Test("A scope that the child sets replaces the template's")
  func replacesScope() throws {
    try environment.define(environment.template("ephemeral").scope("prototype"))
    try environment.define(environment.bean(Store.self, parent: "ephemeral").scope("singleton"))
    #expect(try environment.getBean(Store.self) === environment.getBean(Store.self))
  }

  @Test("requires is inherited")
  func inheritsRequires() throws {
    let journal = Journal()
    try environment.define(environment.template("late").requires(id: "first"))
    try environment.define(environment.bean(Store.self, parent: "late", factory: { journal.noting("store", Store()) }))
    try environment.define(
      environment.bean(CachingStore.self, id: "first", factory: { journal.noting("first", CachingStore()) }))
    try environment.startup()
    #expect(journal.entries == ["first", "store"])
  }

  @Test("Lifecycle callbacks are inherited")
  func inheritsCallbacks() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Store.self, id: "base", abstract: true)
        .postConstruct { journal.note("constructed \($0.name)") }
        .onDestroy { journal.note("destroyed \($0.name)") })
    try environment.define(environment.bean(Store.self, parent: "base").property(\.name, value: "orders"))
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries == ["constructed orders", "destroyed orders"])
  }

  @Test("abstract is not inherited")
  func abstractIsNotInherited() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true))
    try environment.define(environment.bean(Store.self, id: "child", parent: "base"))
    #expect(try environment.getBeansByType(Store.self).count == 1)
  }

  @Test("A parent need not be abstract")
  func concreteParent() throws {
    try environment.define(environment.bean(Store.self, id: "a").property(\.url, value: "file:"))
    try environment.define(environment.bean(Store.self, id: "b", parent: "a").property(\.name, value: "b"))
    let (a, b) = (try environment.getBean(Store.self, byId: "a"), try environment.getBean(Store.self, byId: "b"))
    #expect(a !== b)
    #expect(a.name == "" && b.name == "b" && b.url == "file:")
  }

  @Test("A template may be part of a parent environment")
  func templateInParent() throws {
    let parent = try Environment(name: "technical")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Store.self, id: "template", abstract: true).property(\.url, value: "file:"))
    let child = try Environment(name: "domain", parent: parent)
    try child.define(child.bean(Store.self, parent: "template").property(\.name, value: "orders"))
    #expect(try child.getBean(Store.self).url == "file:")
    try requireFault(.unknownBean) { try parent.getBean(Store.self) }
  }

  // MARK: faults

  @Test("An unknown template is a fault")
  func unknownTemplate() throws {
    let (store, line) = (environment.bean(Store.self, parent: "nowhere"), #line)
    try environment.define(store)
    try requireFault(.unknownBean, description: "nowhere", line: line) { try environment.startup() }
  }

  @Test("Templates in a circle are a cyclic dependency, drawn as a path", .timeLimit(.minutes(20)))
  func templateCycle() throws {
    try environment.define(environment.template("a").parent("b"))
    try environment.define(environment.template("b").parent("c"))
    try environment.define(environment.template("c").parent("a"))
    try environment.define(environment.bean(Store.self, parent: "a"))
    try requireFault(.cyclicDependency, description: "→") { try environment.startup() }
  }

  @Test("A bean that is its own parent is a fault", .timeLimit(.minutes(20)))
  func ownParent() throws {
    try environment.define(environment.bean(Store.self, id: "a", parent: "a"))
    // The declaration itself is ignored: the id is unknown if no ancestor has it.
    let fault = try requireFault(.cyclicDependency, .unknownBean) { try environment.startup() }
    #expect(fault.description.contains("'a'") || fault.passes("a"))
  }

  @Test("A child of a class that the template's properties do not fit is a type mismatch")
  func unrelatedClass() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true).property(\.url, value: "file:"))
    let make: @Sendable () -> Endpoint = { Endpoint(host: "", port: 0) }
    let (endpoint, line) = (environment.bean(Endpoint.self, parent: "base", factory: make), #line)
    try environment.define(endpoint)
    let fault = try requireFault(.typeMismatch, .invalidDeclaration) { try environment.startup() }
    #expect(fault.description.contains("Endpoint"))
    #expect(fault.isFrom(file: #fileID, line: line))
  }

  @Test("A template's factory that does not make the child's class is a fault, never a trap")
  func unfittingFactory() throws {
    try environment.define(environment.bean(Store.self, id: "base", abstract: true, factory: { Store(name: "x") }))
    try environment.define(environment.bean(Endpoint.self, parent: "base"))
    try requireFault(.typeMismatch, .invalidDeclaration, description: "Endpoint") { try environment.startup() }
  }
}

private class Store: Initializable {
  var name = ""
  var url = ""
  var timeout = 0
  required init() {}
  init(name: String) { self.name = name }
}

private final class CachingStore: Store { var capacity = 0 }

private final class Shop {
  let store: Store
  init(store: Store) { self.store = store }
}

private final class Endpoint {
  let host: String
  let port: Int
  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }
}
