import Beans
import Synchronization
import Testing

@Suite("Scopes") struct ScopeSpecification {
  @FreshEnvironment private var environment

  // MARK: singleton, prototype, lazy

  @Test("A singleton is built once, at startup")
  func singleton() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, factory: { Item(built) }))
    #expect(built.value == 0)
    try environment.startup()
    #expect(built.value == 1)
    #expect(try environment.getBean(Item.self) === environment.getBean(Item.self))
    #expect(built.value == 1)
  }

  @Test("A lazy bean is built at its first lookup, once")
  func lazy() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, lazy: true, factory: { Item(built) })).startup()
    #expect(built.value == 0)
    #expect(try environment.getBean(Item.self) === environment.getBean(Item.self))
    #expect(built.value == 1)
  }

  @Test("A lazy bean that an eager one needs is built for it")
  func lazyDependency() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, lazy: true, factory: { Item(built) }))
    try environment.define(environment.bean(Box.self, factory: Box.init)).startup()
    #expect(built.value == 1)
  }

  @Test("A lazy bean whose factory throws does not disturb startup; its lookup throws")
  func failingLazy() throws {
    try environment.define(environment.bean(Item.self, lazy: true, factory: { throw Boom() })).startup()
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.getBean(Item.self) }
  }

  @Test("A prototype is built with every lookup and for every user, not at startup")
  func prototype() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, factory: { Item(built) }).scope("prototype"))
    try environment.define(environment.bean(Box.self, id: "a", lazy: true, factory: Box.init))
    try environment.define(environment.bean(Box.self, id: "b", lazy: true, factory: Box.init)).startup()
    #expect(built.value == 0)
    #expect(try environment.getBean(Item.self) !== environment.getBean(Item.self))
    let (a, b) = (try environment.getBean(Box.self, byId: "a"), try environment.getBean(Box.self, byId: "b"))
    #expect(a.item !== b.item)
    #expect(built.value == 4)
  }

  @Test("A prototype whose factory throws is tried anew with every lookup")
  func failingPrototype() throws {
    let built = Counter()
    try environment.define(
      environment.bean(Item.self, factory: { if built.increment() == 1 { throw Boom() } else { Item() } })
        .scope("prototype"))
    try requireFault(.creationFailed) { try environment.getBean(Item.self) }
    _ = try environment.getBean(Item.self)
  }

  @Test("An unknown scope is a fault that names scope, bean and origin")
  func unknownScope() throws {
    let (item, line) = (environment.bean(Item.self, factory: { Item() }).scope("reqest"), #line)
    try environment.define(item)
    try requireFault(.unknownScope, description: "reqest", through: "Item", line: line) { try environment.startup() }
  }

  // MARK: scopes of the user

  @Test("A registered scope is prepared once for each of its beans, and called with the same declaration")
  func registeredScope() throws {
    let scope = RecordingScope()
    try environment.registerScope(scope)
    try environment.define(environment.bean(Item.self, factory: { Item() }).scope("recording"))
    try environment.define(environment.bean(Item.self, id: "other", factory: { Item() }).scope("prototype"))
    try environment.define(environment.bean(Box.self, lazy: true).scope("recording").abstract())
    try environment.startup()
    #expect(scope.prepared.count == 1)
    let item = try environment.getBeansByType(Item.self)[0]
    #expect(try environment.getBeansByType(Item.self)[0] === item)
    #expect(scope.asked.count == 2)
    #expect(scope.asked.allSatisfy { $0 == scope.prepared[0] })
    #expect(scope.creations == 1)
  }

  @Test("A scope receives finished beans from the factory: injected and post-constructed")
  func scopeGetsFinishedBeans() throws {
    let journal = Journal()
    try environment.registerScope(RecordingScope())
    try environment.define(
      environment.bean(Item.self, factory: { Item() }).scope("recording")
        .property(\.name, value: "injected").postConstruct { journal.note($0.name) })
    #expect(try environment.getBean(Item.self).name == "injected")
    #expect(journal.entries == ["injected"])
  }

  @Test("A scope is installed by its definition as a bean, wherever that is")
  func scopeAsBean() throws {
    try environment.define(environment.bean(Item.self, factory: { Item() }).scope("sample"))
    try environment.define(environment.bean(SampleScope.self, factory: SampleScope.init))
    #expect(try environment.getBean(Item.self) === environment.getBean(Item.self))
    #expect(try environment.getBean(SampleScope.self).name == "sample")
  }

  @Test("A scope bean that cannot be built is a failed startup")
  func failingScopeBean() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, factory: { Item(built) }))
    try environment.define(environment.bean(SampleScope.self, factory: { throw Boom() }))
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.startup() }
    #expect(built.value == 0)
  }

  @Test("AbstractBeanScope caches one instance for each bean")
  func abstractBeanScopeCaches() throws {
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    try environment.define(environment.bean(Item.self, id: "a", factory: { Item() }).scope("cached"))
    try environment.define(environment.bean(Item.self, id: "b", factory: { Item() }).scope("cached"))
    let (a, b) = (try environment.getBean(Item.self, byId: "a"), try environment.getBean(Item.self, byId: "b"))
    #expect(a !== b)
    #expect(try environment.getBean(Item.self, byId: "a") === a)
    #expect(try environment.getBean(Item.self, byId: "b") === b)
  }

  @Test("AbstractBeanScope releases in reverse order of creation when it finishes")
  func abstractBeanScopeReleases() throws {
    let journal = Journal()
    let scope = AbstractBeanScope(name: "cached")
    try environment.registerScope(scope)
    for id in ["a", "b", "c"] {
      try environment.define(
        environment.bean(Item.self, id: id, factory: { Item() }).scope("cached").onDestroy { _ in journal.note(id) })
    }
    try environment.startup()
    for id in ["b", "c", "a"] { _ = try environment.getBean(Item.self, byId: id) }
    scope.finish()
    #expect(journal.entries == ["a", "c", "b"])
    try environment.shutdown()
    #expect(journal.entries == ["a", "c", "b"])
  }

  @Test("A child releases a bean of a registered scope in its place among the others, last created first")
  func abstractBeanScopeInAChild() throws {
    let journal = Journal()
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      for id in ["usual", "cached"] {
        let item = request.bean(Item.self, id: id, factory: { journal.noting(id, Item()) })
        if id == "cached" { item.scope("cached") }
        try request.define(item.onDestroy { _ in journal.note(id) })
      }
      try request.define(
        request.bean(Box.self, factory: { (_: Item, cached: Item) in Box(item: cached) })
          .argument(0, ref: "usual").argument(1, ref: "cached"))
    }
    let request = try requests.build(1)
    _ = try request.getBean(Box.self)
    let created = journal.entries
    #expect(created.count == 2)
    request.finish()
    #expect(journal.entries == created + created.reversed())
    try environment.shutdown()
  }

  @Test("A required bean of a registered scope is built before the arguments of its dependent")
  func requirementOfARegisteredScope() throws {
    let journal = Journal()
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    for id in ["taken", "required"] {
      let item = environment.bean(Item.self, id: id, factory: { journal.noting(id, Item()) }).lazy()
      if id == "required" { item.scope("cached") }
      try environment.define(item)
    }
    try environment.define(
      environment.bean(Box.self, factory: { (item: Item) in Box(item: item) }).lazy()
        .argument(0, ref: "taken").requires(id: "required"))
    _ = try environment.getBean(Box.self)
    #expect(journal.entries == ["required", "taken"])
    try environment.shutdown()
  }

  @Test("Beans built for a failing bean of a registered scope are released with their environment")
  func failedBuildOfARegisteredScope() throws {
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Item.self, factory: { Item() }))
      try request.define(request.bean(Broken.self, factory: { () throws in throw Boom() }))
      try request.define(
        request.bean(Box.self, factory: { (item: Item, _: Broken) in Box(item: item) }).scope("cached"))
    }
    let request = try requests.build(1)
    try requireFault(.creationFailed) { try request.getBean(Box.self) }
    weak let item = try request.getBean(Item.self)
    #expect(item != nil)
    request.finish()
    #expect(item == nil)
    try environment.shutdown()
  }

  @Test("AbstractBeanScope leaves a bean whose building fails out: the next lookup tries again")
  func abstractBeanScopeFailure() throws {
    let attempts = Counter()
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    try environment.define(
      environment.bean(
        Item.self, lazy: true, factory: { if attempts.increment() == 1 { throw Boom() } else { Item() } }
      ).scope("cached"))
    try requireFault(.creationFailed, causes: [Boom()]) { try environment.getBean(Item.self) }
    #expect(try environment.getBean(Item.self) === environment.getBean(Item.self))
  }

  @Test("The environment that registered a scope finishes it, once")
  func environmentFinishesScope() throws {
    let parent = try Environment(name: "parent")
    let scope = RecordingScope()
    try parent.registerScope(scope)
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Item.self, factory: { Item() }).scope("recording"))
    _ = try child.getBean(Item.self)
    try child.shutdown()
    #expect(scope.finishes == 0)
    try parent.shutdown()
    try parent.shutdown()
    #expect(scope.finishes == 1)
  }

  @Test("A user's scope decides when instances end: it is not judged for captivity")
  func notJudged() throws {
    try environment.registerScope(AbstractBeanScope(name: "cached"))
    try environment.define(environment.bean(Item.self, factory: { Item() }).scope("cached"))
    try environment.define(environment.bean(Box.self, factory: Box.init))
    #expect(try environment.getBean(Box.self).item === environment.getBean(Item.self))
  }

  @Test("An error of a scope reaches the caller")
  func throwingScope() throws {
    try environment.registerScope(RefusingScope())
    try environment.define(environment.bean(Item.self, lazy: true, factory: { Item() }).scope("refusing"))
    try environment.startup()
    #expect(throws: (any Error).self) { try environment.getBean(Item.self) }
    _ = try environment.getBeansByType(Box.self)
  }
}

private final class Item {
  var name = ""
  init(_ built: Counter? = nil) { built?.increment() }
}

private final class Box {
  let item: Item
  init(item: Item) { self.item = item }
}

private final class SampleScope: AbstractBeanScope, @unchecked Sendable {  // adds no state
  init() { super.init(name: "sample") }
}

/// A scope without the help of `AbstractBeanScope`.
private final class RecordingScope: BeanScope {
  private struct State {
    var prepared: [ObjectIdentifier] = []
    var asked: [ObjectIdentifier] = []
    var creations = 0
    var finishes = 0
  }

  let name = "recording"
  private let state = Guarded(State())
  // Only the tests' own threads, one at a time, access it.
  nonisolated(unsafe) private var cache: [ObjectIdentifier: AnyObject] = [:]

  var prepared: [ObjectIdentifier] { state.withLock(\.prepared) }
  var asked: [ObjectIdentifier] { state.withLock(\.asked) }
  var creations: Int { state.withLock(\.creations) }
  var finishes: Int { state.withLock(\.finishes) }

  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    let identifier = ObjectIdentifier(bean)
    state.withLock { $0.prepared.append(identifier) }
  }

  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
    let identifier = ObjectIdentifier(bean)
    state.withLock { $0.asked.append(identifier) }
    if let cached = cache[identifier] { return cached }
    state.withLock { $0.creations += 1 }
    let created = try factory.create(bean)
    cache[identifier] = created
    return created
  }

  func finish() {
    state.withLock { $0.finishes += 1 }
    cache.removeAll()
  }
}

private final class RefusingScope: BeanScope {
  let name = "refusing"
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { throw Boom() }
  func finish() {}
}

/// A bean without a factory.
private final class Broken {}
