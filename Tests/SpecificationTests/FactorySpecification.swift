import Beans
import Testing

@Suite("Environment factories") struct FactorySpecification {
  @FreshEnvironment("application") private var application

  // MARK: seed and own beans

  @Test("A child is built from its seed, which its beans may use by type")
  func seed() throws {
    let requests = try application.childFactory("request", seed: Request.self) { child in
      try child.define(child.bean(Handler.self, factory: Handler.init))
    }
    try application.define(application.bean(Pool.self))
    let first = try requests.build(Request(path: "/a"))
    let second = try requests.build(Request(path: "/b"))
    #expect(try first.getBean(Handler.self).request.path == "/a")
    #expect(try second.getBean(Handler.self).request.path == "/b")
    #expect(try first.getBean(Handler.self).pool === application.getBean(Pool.self))
    #expect(try first.getBean(Request.self).path == "/a")
    try application.shutdown()
  }

  @Test("A seed is unknown outside the children of its factory")
  func seedOutside() throws {
    let requests = try application.childFactory("request", seed: Request.self)
    let others = try application.childFactory("other", seed: Int.self)
    try requireFault(.unknownBean, .scopeNotActive) { try application.getBean(Request.self) }
    let other = try others.build(1)
    try requireFault(.unknownBean, .scopeNotActive) { try other.getBean(Request.self) }
    _ = try requests.withChild(Request(path: "/")) { try $0.getBean(Request.self) }
    try application.shutdown()
  }

  @Test("A bean of the child that needs another seed is a fault of startup")
  func wrongSeed() throws {
    _ = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Handler.self, factory: Handler.init))
    }
    try application.define(application.bean(Pool.self))
    try requireFault(.unknownBean, description: "Request", through: "Handler") { try application.startup() }
  }

  @Test("A declaration of configure exists in the children alone, once in each")
  func configuredBeans() throws {
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Pool.self, id: "pool"))
    }
    let first = try requests.build(1)
    let second = try requests.build(2)
    let pool = try first.getBean(Pool.self)
    #expect(try first.getBean(Pool.self, byId: "pool") === pool)
    #expect(try second.getBean(Pool.self) !== pool)
    try requireFault(.unknownBean) { try application.getBean(Pool.self) }
    try requireFault(.unknownBean) { try application.getBean(Pool.self, byId: "pool") }
    try application.shutdown()
  }

  @Test("Beans that children declare are built at first use, and then once")
  func builtAtFirstUse() throws {
    let built = Counter()
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Pool.self, factory: { built.counting(Pool()) }))
    }
    try application.startup()
    let child = try requests.build(1)
    #expect(built.value == 0)
    #expect(try child.getBean(Pool.self) === child.getBean(Pool.self))
    #expect(built.value == 1)
    try application.shutdown()
  }

  @Test("An instance handed in by configure is the same for every child, in sequence")
  func configuredInstance() throws {
    let pool = Pool()
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(pool))
    }
    for number in 0..<3 {
      let isPool = try requests.withChild(number) { try $0.getBean(Pool.self) === pool }
      #expect(isPool)
    }
    try application.shutdown()
  }

  @Test("A child's bean hides the application's, for itself alone")
  func nearestWins() throws {
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(ElasticPool.self, id: "pool"))
    }
    try application.define(application.bean(Pool.self, id: "pool"))
    let child = try requests.build(1)
    #expect(try child.getBean(Pool.self) is ElasticPool)
    #expect(try child.getBean(Pool.self, byId: "pool") is ElasticPool)
    #expect(try !(application.getBean(Pool.self) is ElasticPool))
    #expect(try child.getBeansByType(Pool.self).count == 1)
    try application.shutdown()
  }

  @Test("A child has its parent and is a descendant of the declaring environment")
  func parentOfChild() throws {
    let requests = try application.childFactory("request", seed: Int.self)
    let child = try requests.build(1)
    #expect(child.parent === application)
    #expect(try child.getBean(Environment.self) === child)
    try application.shutdown()
  }

  // MARK: configure

  @Test("Lookups on the environment that configure receives throw")
  func lookupsInConfigure() throws {
    try application.define(application.bean(Pool.self))
    _ = try application.childFactory("request", seed: Int.self) { child in
      try requireFault { try child.getBean(Pool.self) }
      try requireFault { try child.getBeansByType(Pool.self) }
      try requireFault { try child.withBean(Pool.self) { _ in } }
    }
    _ = try application.getBean(Pool.self)
  }

  @Test("A factory in configure takes its Environment as a parameter: the child")
  func environmentParameter() throws {
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Located.self, factory: Located.init))
    }
    let child = try requests.build(1)
    #expect(try child.getBean(Located.self).environment === child)
    try application.shutdown()
  }

  @Test("childFactory throws the error of configure")
  func throwingConfigure() throws {
    #expect(throws: Boom()) {
      try application.childFactory("request", seed: Int.self, configure: { _ in throw Boom() })
    }
  }

  @Test("The environment of configure is frozen afterwards")
  func configureIsOver() throws {
    let escaped = Captured<Environment>()
    let requests = try application.childFactory("request", seed: Int.self, configure: { escaped.value = $0 })
    try application.startup()
    let template = try #require(escaped.value)
    try requireFault(.frozen) { try template.define(template.bean(Pool.self)) }
    let child = try requests.build(1)
    try requireFault(.frozen) { try child.define(child.bean(Pool.self)) }
    try application.shutdown()
  }

  // MARK: request-scoped beans of the application

  @Test("A bean of scope request belongs to the nearest enclosing child of that scope")
  func requestScopedInApplication() throws {
    let requests = try application.childFactory("request", seed: Request.self)
    try application.define(application.bean(Handler.self, factory: Handler.init).scope("request"))
    try application.define(application.bean(Pool.self))
    let first = try requests.build(Request(path: "/a"))
    let second = try requests.build(Request(path: "/b"))
    let handler = try first.getBean(Handler.self)
    #expect(try first.getBean(Handler.self) === handler)
    #expect(try second.getBean(Handler.self) !== handler)
    #expect(handler.request.path == "/a")
    try application.shutdown()
  }

  @Test("A lookup of it outside a request is scopeNotActive, by type and by id")
  func scopeNotActive() throws {
    _ = try application.childFactory("request", seed: Request.self)
    try application.define(application.bean(Handler.self, id: "handler", factory: Handler.init).scope("request"))
    try application.define(application.bean(Pool.self))
    let plain = try Environment(name: "plain child", parent: application)
    for environment in [application, plain] {
      try requireFault(.scopeNotActive, description: "request", "Handler") { try environment.getBean(Handler.self) }
      try requireFault(.scopeNotActive) { try environment.getBean(Handler.self, byId: "handler") }
    }
  }

  @Test("A bean of the scope is resolvable in the children of every factory of it, with their seeds and beans")
  func everyFactoryOfTheScope() throws {
    let pages = try application.childFactory("request", seed: Request.self) { child in
      try child.define(child.bean(Pool.self))
    }
    let calls = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(ElasticPool.self))
      try child.define(child.bean(Request.self, factory: { (number: Int) in Request(path: "#\(number)") }))
    }
    try application.define(application.bean(Handler.self, factory: Handler.init).scope("request"))
    let page = try pages.build(Request(path: "/")).getBean(Handler.self)
    let call = try calls.build(7).getBean(Handler.self)
    #expect(page.request.path == "/" && !(page.pool is ElasticPool))
    #expect(call.request.path == "#7" && call.pool is ElasticPool)
    try application.shutdown()
  }

  @Test("A factory of the scope whose children cannot build it is a fault of startup")
  func oneFactoryLacksTheSeed() throws {
    _ = try application.childFactory("request", seed: Request.self)
    _ = try application.childFactory("request", seed: Int.self)
    try application.define(application.bean(Handler.self, factory: Handler.init).scope("request"))
    try application.define(application.bean(Pool.self))
    try requireFault(.unknownBean, description: "Request", through: "Handler") { try application.startup() }
  }

  @Test("A seed may be optional to a bean that serves factories with and without it")
  func optionalSeed() throws {
    let pages = try application.childFactory("request", seed: Request.self)
    let calls = try application.childFactory("request", seed: Int.self)
    try application.define(
      application.bean(Label.self, factory: { (request: Request?) in Label(text: request?.path ?? "none") })
        .scope("request"))
    #expect(try pages.withChild(Request(path: "/")) { try $0.getBean(Label.self).text } == "/")
    #expect(try calls.withChild(1) { try $0.getBean(Label.self).text } == "none")
  }

  // MARK: building

  @Test("The first build starts the application")
  func buildStarts() throws {
    let built = Counter()
    try application.define(application.bean(Pool.self).postConstruct { _ in built.increment() })
    let requests = try application.childFactory("request", seed: Int.self)
    _ = try requests.build(1)
    #expect(built.value == 1)
    try application.shutdown()
  }

  @Test("A failing bean of one child leaves the child and its siblings usable")
  func failingBean() throws {
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Pool.self, factory: { (number: Int) in if number == 1 { throw Boom() } else { Pool() } }))
    }
    let first = try requests.build(1)
    let second = try requests.build(2)
    try requireFault(.creationFailed, causes: [Boom()]) { try first.getBean(Pool.self) }
    #expect(try first.getBean(Int.self) == 1)
    _ = try second.getBean(Pool.self)
    try application.shutdown()
  }

  @Test("A factory may have a scope object for its children: one for each child, finished with it")
  func scopeObject() throws {
    let made = Counter()
    let journal = Journal()
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { child in try child.define(child.bean(Pool.self).onDestroy { _ in journal.note("pool") }) },
      scope: { made.counting(FinishingScope(journal: journal)) })
    try application.startup()
    let first = try requests.build(1)
    let second = try requests.build(2)
    #expect(try first.getBean(Pool.self) === first.getBean(Pool.self))
    #expect(try first.getBean(Pool.self) !== second.getBean(Pool.self))
    #expect(made.value == 2)
    try first.shutdown()
    #expect(journal.entries.filter { $0 == "pool" }.count == 1)
    #expect(journal.entries.contains("scope finished"))
    try application.shutdown()
    #expect(journal.entries.filter { $0 == "pool" }.count == 2)
    #expect(journal.entries.filter { $0 == "scope finished" }.count == 2)
  }
}

// MARK: - beans

private struct Request { let path: String }

private final class Label {
  let text: String
  init(text: String) { self.text = text }
}

private class Pool: Initializable { required init() {} }
private final class ElasticPool: Pool {}

private final class Handler {
  let request: Request
  let pool: Pool
  init(request: Request, pool: Pool) {
    self.request = request
    self.pool = pool
  }
}

private final class Located {
  let environment: Environment
  init(environment: Environment) { self.environment = environment }
}

private final class FinishingScope: AbstractBeanScope, @unchecked Sendable {  // adds only a Sendable constant
  let journal: Journal
  init(journal: Journal) {
    self.journal = journal
    super.init(name: "request")
  }
  override func finish() {
    super.finish()
    journal.note("scope finished")
  }
}
