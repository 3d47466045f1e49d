import Beans
import BeansEventLoop
import BeansRunning
import BeansServer
import BeansSessions
import Dispatch
import Synchronization
import Testing

@Suite("The articles on sessions and scopes") struct SessionsGuideTests {
  @Test(
    "Each listing is compiled to the letter",
    arguments: ["TenantsAndJobs"])
  func listings(article name: String) throws {
    let article = try Article(name, listings: "\(name)Listings")
    #expect(!article.blocks("swift").isEmpty)
    #expect(article.blocks("swift") == article.compiled)
  }

  @Test("Requests and sessions: a visitor keeps the session, a planted id is replaced, and a full registry refuses")
  func sessions() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    // Its thread is not needed: a loop that does not run lets the caller release.
    let loop = try EventLoop()
    defer { try? loop.close() }
    let declared = try SessionsArticle().declareSessions(in: shop, on: loop, SessionsArticle.Metrics())
    #expect(declared.counts.capacity == 100_000)
    let sessions = Sessions(
      try shop.childFactory("visit", seed: Void.self) { visit in
        try visit.define(visit.bean(SessionsArticle.Cart.self, factory: SessionsArticle.Cart.init))
      }, capacity: 1)
    let ends = Mutex<[SessionEvent]>([])
    let web = try Environment(name: "web")
    let withoutLoop = try SessionsArticle().declareSessions(
      in: web, onEvent: { event in ends.withLock { $0.append(event) } })
    _ = try SessionsArticle().respond(SessionsArticle.Request(cookie: nil), withoutLoop)
    try web.shutdown()
    #expect(ends.withLock { $0.count } == 2 && withoutLoop.counts.ended == 1)
    let planted = SessionsArticle.Request(cookie: "planted")
    let first = try SessionsArticle().respond(planted, sessions)
    let id = try #require(first.cookie)
    #expect(id != "planted" && sessions.find("planted") == nil)
    let again = try SessionsArticle().respond(SessionsArticle.Request(cookie: id), sessions)
    #expect(again.text == first.text && again.cookie == nil)
    let next = try #require(try SessionsArticle().logIn(id, sessions).cookie)
    #expect(sessions.find(id) == nil && sessions.find(next) != nil)
    let refused = try sessions.withSession(next) { _ throws in try SessionsArticle().respond(planted, sessions) }
    #expect(refused == SessionsArticle.Response(status: 503, retryAfter: 60))
  }

  @Test("Requests and sessions: a request sees the beans of its session, and ends on its loop")
  func requests() throws {
    try EventLoop.withThread { loop in
      let shop = try Environment(name: "shop")
      let listings = SessionsArticle()
      let sessions = try shop.childFactory("session", seed: Void.self) { session in
        try session.define(session.bean(SessionsArticle.Cart.self, factory: SessionsArticle.Cart.init))
      }
      let requests = try listings.declareRequests(of: sessions, in: shop, currentLoop: { loop })
      let session = try sessions.build(())
      let request = SessionsArticle.Request(cookie: nil)
      let first = try listings.respond(to: request, requests, in: session)
      #expect(try listings.respond(to: request, requests, in: session) == first)
      let sent = Mutex<[SessionsArticle.Response]>([])
      try listings.begin(request, requests, in: session) { response, whenWritten in
        sent.withLock { $0.append(response) }
        #expect(session.hasOpenChildren)
        whenWritten()
      }
      // Comes after what the loop has been handed to release.
      let released = DispatchSemaphore(value: 0)
      loop.execute { released.signal() }
      released.wait()
      #expect(sent.withLock { $0 } == [first] && !session.hasOpenChildren)
      try shop.shutdown()
    }
  }

  @Test("Requests and sessions: a session on an executor ends by its id")
  func executors() async throws {
    let shop = try Environment(name: "shop")
    let sessions = try SessionsArticle().declareSessions(in: shop, releasedOn: globalConcurrentExecutor)
    let id = sessions.newId()
    try await sessions.withSession(id, opening: ()) { _ = try $0.getBean(SessionsArticle.Cart.self) }
    try await sessions.end(id)
    #expect(sessions.find(id) == nil)
    try await shop.shutdown()
  }

  @Test("Requests and sessions: a request, a connection and sessions keep state for different times")
  func sessionAPIs() async throws {
    let guide = SessionKinds()
    let shop = try Environment(name: "shop")
    let requests = try shop.childFactory("request", seed: SessionKinds.Visitor.self) {
      try $0.define(SessionKinds.Greeting.self, factory: SessionKinds.Greeting.init)
    }
    let sessions = Sessions(
      try shop.childFactory("session", seed: Void.self) {
        try $0.define(SessionKinds.Visits.self, factory: SessionKinds.Visits.init)
      })
    let states = try shop.childFactory("stored session", seed: SessionState.self) {
      try $0.define(SessionKinds.StoredVisits.self, factory: SessionKinds.StoredVisits.init)
    }
    #expect(try guide.greet(.init(name: "Ada"), requests) == "Hello, Ada!")
    let connection = try guide.connect(.init(name: "Grace"), requests)
    #expect(try connection.environment.getBean(SessionKinds.Greeting.self).text == "Hello, Grace!")
    try await connection.end()
    let id = sessions.newId()
    _ = try sessions.open(id, ())
    #expect(try guide.visit(id, in: sessions) == 1 && guide.visit(id, in: sessions) == 2)
    #expect(try guide.visit("unknown", in: sessions) == nil)
    for visits in [Sessions(states), Sessions(states, store: MemorySessionStore())] {
      let first = try await guide.visit(nil, visits)
      guard case .set(let cookie) = first.cookie else {
        Issue.record("no cookie")
        return
      }
      #expect(try await guide.visit(cookie, visits).value == 2)
    }
    try await shop.shutdown()
  }

  @Test("Requests and sessions: the basket of a client continues with the cookie that the first change has set")
  func baskets() async throws {
    let shop = try Environment(name: "shop")
    let guide = SessionsArticle()
    let sessions = try guide.declareSessions(in: shop)
    let first = try await guide.add("tea", .init(cookie: "planted"), sessions)
    let id = try #require(first.cookie)
    #expect(id != "planted" && sessions.find("planted") == nil)
    let second = try await guide.add("milk", .init(cookie: id), sessions)
    #expect(second.text == "2" && second.cookie == nil)
    try await shop.shutdown()
  }

  @Test("Tenants: each tenant has its own beans, and a singleton reaches those of the current one")
  func tenants() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let listings = Tenants()
    let tenants = try listings.declareTenants(in: shop)
    try shop.define(shop.bean(Tenants.Audit.self, factory: Tenants.Audit.init))
    #expect(try listings.bill(.init(name: "Ada"), tenants) == "to Ada")
    let audit = try shop.getBean(Tenants.Audit.self)
    try listings.serve(.init(name: "Grace"), tenants, audit)
    #expect(audit.lines.all == ["Grace came"])
    let outside = #expect(throws: EnvironmentError.self) { try shop.getBean(Tenants.Quota.self) }
    #expect(outside?.code == .scopeNotActive)
  }

  @Test("Tenants: a tenant on a loop is released there")
  func tenantScopes() throws {
    try EventLoop.withThread { loop in
      let shop = try Environment(name: "shop")
      let tenants = try Tenants().declareTenants(in: shop, on: loop)
      let released = DispatchSemaphore(value: 0)
      try tenants.withChild(.init(name: "Ada")) { child in
        let quota = try child.getBean(Tenants.Quota.self)
        #expect(quota.tenant.name == "Ada")
        child.whenFinished {
          #expect(loop.isCurrent)
          released.signal()
        }
      }
      released.wait()
      #expect(!shop.hasOpenChildren)
      try shop.shutdown()
    }
  }

  @Test("Tenants: a tenant is opened once, and a name without a customer opens none")
  func keptTenants() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let tenants = try Tenants().keep(Tenants().declareTenants(in: shop))
    for _ in 1...2 {
      #expect(try Tenants().serve("acme", tenants, find: { Tenants.Tenant(name: $0) }) == "to acme")
    }
    #expect(throws: CancellationError.self) {
      try Tenants().serve("unknown", tenants, find: { _ in throw CancellationError() })
    }
    #expect(tenants.count == 1 && tenants.counts.opened == 1)
  }

  @Test("Tenants: an id of one tenant is unknown to another, and an open session keeps its tenant")
  func sessionsOfTenants() throws {
    let shop = try Environment(name: "shop")
    let factory = try Tenants().declareTenants(in: shop)
    try Tenants().declareSessions(of: factory, in: shop)
    let tenants = Sessions(factory, capacity: 2)
    let first = try tenants.open("first", Tenants.Tenant(name: "first"))
    let second = try tenants.open("second", Tenants.Tenant(name: "second"))
    let id = try first.getBean(Sessions<Void>.self).newId()
    _ = try first.getBean(Sessions<Void>.self).open(id, ())
    #expect(try Tenants().add("tea", to: id, in: first) == 1)
    #expect(try Tenants().add("tea", to: id, in: second) == nil)
    for name in ["third", "fourth"] { _ = try tenants.open(name, Tenants.Tenant(name: name)) }
    #expect(tenants.find("first") === first && second.isFinished)
    let session = try #require(try first.getBean(Sessions<Void>.self).find(id))
    first.finish()
    #expect(session.isFinished)
    try shop.shutdown()
  }

  @Test("Jobs: a task that outlives its request is refused its beans, and an open job ends with the service")
  func tasksWithoutJobs() async throws {
    let shop = try Environment(name: "shop")
    try Jobs().declareJobs(in: shop)
    let requests = try shop.childFactory("request", seed: Int.self)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let task = try await requests.withChild(7) { _ in
      Task {
        for await _ in ends {}
        return try Environment.current?.getBean(Int.self)
      }
    }
    end.finish()
    let error = await #expect(throws: EnvironmentError.self) { try await task.value }
    #expect(error?.code == .finished)
    let job = try shop.getBean(EnvironmentFactory<Jobs.PrintJob>.self).open(.init(order: 7))
    try await shop.shutdown()
    #expect(job.environment.isFinished)
  }

  @Test("Jobs: a job of a request is done after the request, and the end of the service awaits the queue")
  func jobs() async throws {
    let shop = try Environment(name: "shop")
    try Jobs().declareJobs(in: shop)
    let requests = try shop.childFactory("request", seed: Int.self)
    async let served: Void = shop.run()
    let queue = try await shop.getBean(awaiting: Jobs.PrintQueue.self)
    let printer = try await shop.getBean(awaiting: Jobs.Printer.self)
    try await requests.withChild(7) { request in
      try request.getBean(Jobs.PrintQueue.self).add(.init(order: request.getBean(Int.self)))
    }
    while printer.printed.isEmpty { await Task.yield() }
    let jobs = try shop.getBean(EnvironmentFactory<Jobs.PrintJob>.self)
    try await requests.withChild(8) { _ in try await Jobs().printNow(8, jobs).value }
    shop.stop()
    try await served
    #expect(printer.printed == ["invoice 7", "invoice 8"] && queue.failed.isEmpty)
  }

  @Test("Scopes of your own: an observer counts children")
  func observedChildren() throws {
    let shop = try Environment(name: "shop")
    let metrics = try ScopesOfYourOwn().observeChildren(of: shop)
    let tenants = try shop.childFactory("tenant", seed: Tenants.Tenant.self) {
      try $0.define(Tenants.Quota.self, factory: Tenants.Quota.init)
    }
    let open = try tenants.build(.init(name: "a"))
    try tenants.withChild(.init(name: "b")) { _ = try $0.getBean(Tenants.Quota.self) }
    #expect(metrics.current.open == 1 && metrics.current.beans == 1 && metrics.current.failed == 0)
    open.finish()
    #expect(metrics.current.open == 0 && metrics.current.time > .zero)
    try shop.shutdown()
  }

  @Test("Scopes of your own: a shift ends before the shop does")
  func shifts() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let shift = try ScopesOfYourOwn().openTill(in: shop)
    let till = try shop.getBean(ScopesOfYourOwn.Till.self)
    #expect(try shop.getBean(ScopesOfYourOwn.Till.self) === till && !till.isClosed)
    shift.finish()
    #expect(till.isClosed && !shop.isFinished)
    let late = #expect(throws: EnvironmentError.self) { try shop.getBean(ScopesOfYourOwn.Till.self) }
    #expect(late?.code == .finished)
  }

  @Test("Scopes of your own: each lookup reaches the scope")
  func countedLookups() throws {
    let shop = try Environment(name: "shop")
    defer { try? shop.shutdown() }
    let scope = ScopesOfYourOwn.Counted()
    try shop.registerScope(scope)
      .define(shop.bean(ScopesOfYourOwn.Till.self, factory: ScopesOfYourOwn.Till.init).scope("counted"))
    #expect(try shop.getBean(ScopesOfYourOwn.Till.self) !== shop.getBean(ScopesOfYourOwn.Till.self))
    #expect(scope.count == 2)
  }
}
