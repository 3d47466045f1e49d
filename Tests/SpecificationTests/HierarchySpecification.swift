import Beans
import Testing

@Suite("Hierarchy") struct HierarchySpecification {
  @FreshEnvironment("parent") private var parent

  // MARK: visibility

  @Test("A child sees the beans of all its ancestors, and they are the same instances")
  func seesAncestors() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(application.bean(Pool.self, id: "pool"))
    let tenant = try Environment(name: "tenant", parent: application)
    let session = try Environment(name: "session", parent: tenant)
    let pool = try application.getBean(Pool.self)
    #expect(try session.getBean(Pool.self) === pool)
    #expect(try session.getBean(Pool.self, byId: "pool") === pool)
  }

  @Test("A child sees declarations of its parent that follow the child's creation")
  func seesLaterDeclarations() throws {
    let child = try Environment(name: "child", parent: parent)
    try parent.define(parent.bean(Pool.self))
    #expect(try child.getBean(Pool.self) === parent.getBean(Pool.self))
  }

  @Test("A child sees the scopes of its ancestors")
  func seesScopes() throws {
    try parent.registerScope(AbstractBeanScope(name: "custom"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self).scope("custom"))
    #expect(try child.getBean(Pool.self) === child.getBean(Pool.self))
  }

  @Test("A class of a child hides a protocol's bean further out from lookups of the protocol")
  func classHidesProtocol() throws {
    try parent.define(parent.bean((any Basin).self, factory: { Pond() as any Basin }).primary())
    let requests = try parent.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Lake.self, factory: { Lake() }))
    }
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Lake.self, factory: { Lake() }))
    #expect(try child.getBean((any Basin).self) === child.getBean(Lake.self))
    try requests.withChild(1) { request in
      let (lake, basin) = (try request.getBean(Lake.self), try request.getBean((any Basin).self))
      #expect(basin === lake)
      let optional = try request.getBean((any Basin)?.self)
      #expect(optional === lake)
      let all = try request.getBeansByType((any Basin).self)
      #expect(all.map { $0 is Lake } == [true, false])
    }
    let outer = try parent.getBean((any Basin).self)
    #expect(outer is Pond)
  }

  @Test("Beans of a child are visible in neither its parent nor a sibling")
  func childIsPrivate() throws {
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self, id: "pool"))
    let sibling = try Environment(name: "sibling", parent: parent)
    try child.startup()
    for other in [parent, sibling] {
      try requireFault(.unknownBean) { try other.getBean(Pool.self) }
      try requireFault(.unknownBean) { try other.getBean(Pool.self, byId: "pool") }
      #expect(try other.getBeansByType(Pool.self).isEmpty)
    }
  }

  @Test("A scope of a child is unknown in its parent")
  func childScopeIsPrivate() throws {
    try parent.define(parent.bean(Pool.self).scope("custom"))
    let child = try Environment(name: "child", parent: parent)
    try child.registerScope(AbstractBeanScope(name: "custom"))
    try requireFault(.unknownScope) { try parent.startup() }
  }

  @Test("A child's bean of the same type does not make the parent's ambiguous")
  func childDoesNotDisturbParent() throws {
    try parent.define(parent.bean(Pool.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self))
    let own = try child.getBean(Pool.self)
    #expect(try parent.getBean(Pool.self) !== own)
    #expect(try parent.getBeansByType(Pool.self).count == 1)
  }

  // MARK: nearest wins

  @Test("The child's declaration of an id hides the ancestor's")
  func nearestById() throws {
    try parent.define(parent.bean(Pool.self, id: "pool"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(ElasticPool.self, id: "pool"))
    #expect(try child.getBean(Pool.self, byId: "pool") is ElasticPool)
    #expect(try !(parent.getBean(Pool.self, byId: "pool") is ElasticPool))
  }

  @Test("The nearest environment with any candidate for a type decides, even with a subclass")
  func nearestByType() throws {
    try parent.define(parent.bean(Pool.self).primary())
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(ElasticPool.self))
    let grandchild = try Environment(name: "grandchild", parent: child)
    #expect(try child.getBean(Pool.self) is ElasticPool)
    #expect(try grandchild.getBean(Pool.self) is ElasticPool)
  }

  @Test("Several candidates in the nearest environment are ambiguous, independent of the parent's")
  func ambiguousInNearest() throws {
    try parent.define(parent.bean(Pool.self).primary())
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self))
    try child.define(child.bean(Pool.self))
    try requireFault(.ambiguousBean) { try child.getBean(Pool.self) }
    _ = try parent.getBean(Pool.self)
  }

  @Test("Candidates in different environments are not ambiguous")
  func notAmbiguousAcrossEnvironments() throws {
    try parent.define(parent.bean(Pool.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self, id: "own"))
    try child.define(child.bean(Service.self, factory: Service.init))
    #expect(try child.getBean(Service.self).pool === child.getBean(Pool.self, byId: "own"))
  }

  @Test("getBeansByType returns the nearest first, and leaves hidden ids out")
  func beansByType() throws {
    try parent.define(parent.bean(Named(name: "p1"), id: "shared"))
    try parent.define(parent.bean(Named(name: "p2")))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Named(name: "c1")))
    try child.define(child.bean(Named(name: "c2"), id: "shared"))
    let grandchild = try Environment(name: "grandchild", parent: child)
    try grandchild.define(grandchild.bean(Named(name: "g1")))
    #expect(try grandchild.getBeansByType(Named.self).map(\.name) == ["g1", "c1", "c2", "p2"])
    #expect(try parent.getBeansByType(Named.self).map(\.name) == ["p1", "p2"])
  }

  @Test("A bean of another type hides an id as well")
  func hiddenByAnotherType() throws {
    try parent.define(parent.bean(Named(name: "p1"), id: "shared"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self, id: "shared"))
    #expect(try child.getBeansByType(Named.self).isEmpty)
    try requireFault(.typeMismatch) { try child.getBean(Named.self, byId: "shared") }
  }

  @Test("An id may occur once in each environment: in a child it hides, in the same one it is a fault")
  func duplicateIdInOneEnvironment() throws {
    try parent.define(parent.bean(Pool.self, id: "pool"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self, id: "pool"))
    try child.define(child.bean(Named(name: ""), id: "pool"))
    try requireFault(.duplicateId) { try child.startup() }
    _ = try parent.getBean(Pool.self)
  }

  // MARK: the environment of a bean

  @Test("A singleton is built in the environment that declares it, with that environment's dependencies")
  func singletonBelongsToItsEnvironment() throws {
    try parent.define(parent.bean(Service.self, lazy: true, factory: Service.init))
    try parent.define(parent.bean(Pool.self, id: "pool"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self, id: "pool"))
    let service = try child.getBean(Service.self)
    #expect(try service.pool === parent.getBean(Pool.self))
    #expect(try service.pool !== child.getBean(Pool.self))
    #expect(try parent.getBean(Service.self) === service)
  }

  @Test("A singleton cannot use a bean of a child: its dependency is unknown")
  func singletonDoesNotSeeChildren() throws {
    try parent.define(parent.bean(Service.self, factory: Service.init))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self))
    try requireFault(.unknownBean) { try child.startup() }
  }

  @Test("A singleton that is looked up through a child outlives it")
  func singletonOutlivesChild() throws {
    let journal = Journal()
    try parent.define(parent.bean(Pool.self, lazy: true).onDestroy { _ in journal.note("pool") })
    let child = try Environment(name: "child", parent: parent)
    let pool = try child.getBean(Pool.self)
    try child.shutdown()
    #expect(journal.entries.isEmpty)
    #expect(try parent.getBean(Pool.self) === pool)
    try parent.shutdown()
    #expect(journal.entries == ["pool"])
  }

  @Test("A prototype is built for the environment of the lookup, with its dependencies")
  func prototypeBelongsToTheLookup() throws {
    try parent.define(parent.bean(Service.self, factory: Service.init).scope("prototype"))
    try parent.define(parent.bean(Pool.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self))
    #expect(try child.getBean(Service.self).pool === child.getBean(Pool.self))
    #expect(try parent.getBean(Service.self).pool === parent.getBean(Pool.self))
  }

  // MARK: depth

  @Test("A hierarchy has any depth: application, tenant, session, request", arguments: [2, 4, 30])
  func anyDepth(depth: Int) throws {
    var environments = [try Environment(name: "0")]
    for level in 1..<depth {
      environments.append(try Environment(name: "\(level)", parent: environments[level - 1]))
    }
    defer { try? environments[0].shutdown() }
    for (level, environment) in environments.enumerated() {
      try environment.define(environment.bean(Named(name: "\(level)"), id: "nearest"))
      try environment.define(environment.bean(Pool.self, id: "pool \(level)"))
    }
    let last = environments[depth - 1]
    #expect(try last.getBean(Named.self).name == "\(depth - 1)")
    #expect(try last.getBean(Pool.self, byId: "pool 0") === environments[0].getBean(Pool.self))
    #expect(try last.getBeansByType(Pool.self).count == depth)
    #expect(try last.getBeansByType(Named.self).count == 1)
  }

  @Test("A child may require a bean of an ancestor")
  func requiresAncestor() throws {
    try parent.define(parent.bean(Pool.self, id: "pool"))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Service.self, factory: Service.init).argument(0, ref: "pool").requires(id: "pool"))
    #expect(try child.getBean(Service.self).pool === parent.getBean(Pool.self))
  }

  @Test("A scope name may occur only once in a chain of ancestors")
  func scopeNameOnce() throws {
    try parent.registerScope(AbstractBeanScope(name: "custom"))
    let child = try Environment(name: "child", parent: parent)
    try requireFault(description: "custom") {
      try child.registerScope(AbstractBeanScope(name: "custom"))
      try child.startup()
    }
  }

  @Test(
    "A scope name may not occur twice in one environment, nor be a built-in one", arguments: ["custom", "singleton"])
  func scopeNameTwice(name: String) throws {
    let environment = try Environment()
    try environment.registerScope(AbstractBeanScope(name: "custom"))
    try requireFault(description: name) {
      try environment.registerScope(AbstractBeanScope(name: name))
      try environment.startup()
    }
  }

  // MARK: startup

  @Test("A plain child builds its singletons at its startup")
  func childSingletonsAtStartup() throws {
    let child = try Environment(name: "child", parent: parent)
    let journal = Journal()
    try child.define(child.bean(Pool.self).postConstruct { _ in journal.note("pool") })
    try parent.startup()
    #expect(journal.entries.isEmpty)
    try child.startup()
    #expect(journal.entries == ["pool"])
  }

  @Test("startup starts the parent first")
  func startsParent() throws {
    let journal = Journal()
    try parent.define(parent.bean(Pool.self).postConstruct { _ in journal.note("parent") })
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Pool.self).postConstruct { _ in journal.note("child") })
    try child.startup()
    #expect(journal.entries == ["parent", "child"])
    try requireFault(.frozen) { try parent.define(parent.bean(Named(name: ""))) }
  }

  @Test("A parent that cannot start is the reason of its child's failure")
  func failedParent() throws {
    try parent.define(parent.bean(Service.self, factory: Service.init))
    let child = try Environment(name: "child", parent: parent)
    let first = try requireFault(.unknownBean) { try child.startup() }
    let second = try requireFault(.unknownBean) { try parent.startup() }
    #expect(first.message == second.message)
    #expect(first.description.contains("Pool"))
  }

  @Test("A child that cannot start leaves its parent unchanged")
  func failedChild() throws {
    try parent.define(parent.bean(Pool.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Service.self, factory: Service.init).argument(0, ref: "nowhere"))
    try requireFault(.unknownBean) { try child.startup() }
    _ = try parent.getBean(Pool.self)
    let sibling = try Environment(name: "sibling", parent: parent)
    _ = try sibling.getBean(Pool.self)
  }
}

private class Pool: Initializable { required init() {} }
private final class ElasticPool: Pool {}

private protocol Basin: AnyObject {}
private final class Pond: Basin {}
private final class Lake: Basin {}

private struct Named { let name: String }

private final class Service {
  let pool: Pool
  init(pool: Pool) { self.pool = pool }
}
