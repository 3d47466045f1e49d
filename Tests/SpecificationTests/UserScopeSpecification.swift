import Beans
import BeansRunning
import TestSupport
import Testing

@Suite("User-defined scopes", .timeLimit(.minutes(20)))
struct UserScopeSpecification {
  @FreshEnvironment("application") private var application
  private let journal = Journal()

  // MARK: the scope object of a factory's child

  @Test("A scope object has the name of its factory")
  func aScopeObjectHasTheNameOfItsFactory() throws {
    let tenants = try application.childFactory("tenant", seed: Int.self, scope: { AbstractBeanScope(name: "session") })
    let line = #line - 1
    for _ in 0..<2 {
      try requireFault(.invalidDeclaration, message: "'tenant'", "'session'", line: line) { try tenants.build(1) }
    }
  }

  /// Returns the factory of requests with a part that notes its end; `scope` has the scope object of the last one.
  private func requests(
    of application: Environment, scope: Captured<AbstractBeanScope>
  ) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Part.self).onDestroy { _ in journal.note("released") }) },
      scope: {
        let made = AbstractBeanScope(name: "request")
        scope.value = made
        return made
      })
  }

  @Test("finish of a factory's scope object ends its child: released beans cannot be looked up again")
  func finishOfTheObjectEndsTheChild() throws {
    let scope = Captured<AbstractBeanScope>()
    let request = try requests(of: application, scope: scope).build(1)
    _ = try request.getBean(Part.self)
    try #require(scope.value).finish()
    #expect(request.isFinished)
    #expect(request.isReleased)
    #expect(journal.entries == ["released"])
    try requireFault(.finished) { try request.getBean(Part.self) }
    try requireFault(.finished) { try request.getBean(Int.self) }
    #expect(!application.hasOpenChildren)
    try application.shutdown()
    #expect(journal.entries == ["released"])
  }

  /// The way in which one bean of a child needs another.
  enum Need: CaseIterable { case requirement, requirementAndParameter, parameter, property, prototype }

  @Test(
    "A scope object's beans are created once, dependencies first, in every form of dependency", arguments: Need.allCases
  )
  func needsOfTheObjectsBeans(_ need: Need) throws {
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { child in
      @Sendable func note(_ name: String) -> Link { journal.noting(name, Link()) }
      try child.define(child.bean(Link.self, id: "first", factory: { note("first") }))
      var id = "first"
      for next in ["second", "third"] {
        let bean =
          switch need {
          case .requirement: child.bean(Link.self, id: next, factory: { note(next) }).requires(id: id)
          case .requirementAndParameter:
            child.bean(Link.self, id: next, factory: { (_: Link) in note(next) }).argument(0, ref: id).requires(id: id)
          case .parameter: child.bean(Link.self, id: next, factory: { (_: Link) in note(next) }).argument(0, ref: id)
          case .property:
            child.bean(Link.self, id: next, factory: { Link() }).property(\.other, ref: id)
              .postConstruct { _ in journal.note(next) }
          case .prototype:
            child.bean(Link.self, id: next, factory: { (_: Link) in note(next) }).argument(0, ref: id)
              .scope(next == "third" ? "prototype" : "request")
          }
        try child.define(bean)
        id = next
      }
    } scope: {
      AbstractBeanScope(name: "request")
    }
    let request = try requests.build(1)
    _ = try request.getBean(Link.self, byId: "third")
    for id in ["second", "first"] { _ = try request.getBean(Link.self, byId: id) }
    #expect(journal.entries == ["first", "second", "third"])
    #expect(try request.getBean([Link].self).count == 3)
    #expect(journal.entries.dropFirst(3) == (need == .prototype ? ["third"] : []))
    try application.shutdown()
  }

  @Test("finish of a factory's scope object ends the children below its child, too")
  func finishOfTheObjectEndsTheChildrenBelow() throws {
    let scope = Captured<AbstractBeanScope>()
    let requests = try requests(of: application, scope: scope)
    let steps = try requests.childFactory("step", seed: String.self)
    let request = try requests.build(1)
    let step = try steps.build("first", in: request)
    _ = try step.getBean(Part.self)
    try #require(scope.value).finish()
    try requireFault(.finished) { try step.getBean(Part.self) }
    try requireFault(.finished) { try step.getBean(String.self) }
    try requireFault(.finished) { try steps.build("second", in: request) }
    #expect(journal.entries == ["released"])
    try application.shutdown()
  }

  @Test("finish of a factory's scope object may be called from any thread and by many at once")
  func finishOfTheObjectOnManyThreads() throws {
    let scope = Captured<AbstractBeanScope>()
    let requests = try requests(of: application, scope: scope)
    var found = 0
    for _ in 0..<100 {
      let request = try requests.build(1)
      _ = try request.getBean(Part.self)
      let made = try #require(scope.value)
      let codes = try onThreads(3) { number -> EnvironmentError.Code? in
        if number == 0 { request.finish() } else { made.finish() }
        return code { try request.getBean(Part.self) }
      }
      found += codes.count { $0 != .finished }
    }
    #expect(found == 0)
    try application.shutdown()
    #expect(journal.entries.count == 100)
  }

  @Test("A subclass of AbstractBeanScope that extends finish ends its child as well, from any caller")
  func finishOfASubclass() throws {
    let journal = journal
    let scope = Captured<NotingScope>()
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Part.self).onDestroy { _ in journal.note("released") }) },
      scope: {
        let made = NotingScope(name: "request", journal)
        scope.value = made
        return made
      })
    let request = try requests.build(1)
    _ = try request.getBean(Part.self)
    try #require(scope.value).finish()
    try requireFault(.finished) { try request.getBean(Part.self) }
    #expect(journal.count(of: "released") == 1)
    try application.shutdown()
    #expect(journal.count(of: "released") == 1)
  }

  enum End: CaseIterable { case ofTheChild, ofTheParent, ofTheBody }

  @Test("The end of a child calls finish of its scope object once, from any caller", arguments: End.allCases)
  func endCallsFinishOnce(end: End) throws {
    let journal = journal
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Part.self).onDestroy { _ in journal.note("released") }) },
      scope: { NotingScope(name: "request", journal) })
    switch end {
    case .ofTheChild:
      let request = try requests.build(1)
      _ = try request.getBean(Part.self)
      request.finish()
      request.finish()
    case .ofTheParent:
      let request = try requests.build(1)
      _ = try request.getBean(Part.self)
    case .ofTheBody:
      try requests.withChild(1) { _ = try $0.getBean(Part.self) }
    }
    try application.shutdown()
    #expect(journal.entries.sorted() == ["finish", "released"])
  }

  @Test("One scope object for two children is an invalid declaration, and the first child is not affected")
  func oneObjectForTwoChildren() throws {
    let journal = journal
    let shared = AbstractBeanScope(name: "request")
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Part.self).onDestroy { _ in journal.note("released") }) }, scope: { shared })
    let first = try requests.build(1)
    let part = try first.getBean(Part.self)
    try requireFault(.invalidDeclaration) { try requests.build(2) }
    #expect(try first.getBean(Part.self) === part)
    #expect(journal.entries.isEmpty)
    try application.shutdown()
    #expect(journal.entries == ["released"])
  }

  @Test("A registered scope that keeps beans cannot be the scope object of a child")
  func registeredObject() throws {
    let shared = AbstractBeanScope(name: "request")
    try application.registerScope(shared)
    try application.define(application.bean(Part.self, lazy: true).scope("request"))
    let part = try application.getBean(Part.self)
    let other = try Environment(name: "other")
    let requests = try other.childFactory("request", seed: Int.self, scope: { shared })
    try requireFault(.invalidDeclaration, message: "be registered as well") { try requests.build(1) }
    #expect(try application.getBean(Part.self) === part)
    try other.shutdown()
    try application.shutdown()
  }

  @Test("A scope object whose child has ended cannot be that of another")
  func oneObjectForTwoChildrenOneAfterTheOther() throws {
    let shared = AbstractBeanScope(name: "request")
    let requests = try application.childFactory("request", seed: Int.self, scope: { shared })
    try requests.build(1).shutdown() as Void
    try requireFault(.invalidDeclaration) { try requests.build(2) }
    #expect(!application.hasOpenChildren)
    try application.shutdown()
  }

  // MARK: the beans of a child live in the child

  /// The scope objects without a host: one that adds nothing, one that is no `AbstractBeanScope`, one that prepares.
  enum ScopeObject: CaseIterable {
    case abstract, own, eager

    func make() -> any ChildScope {
      switch self {
      case .abstract: AbstractBeanScope(name: "request")
      case .own: NamedScope(name: "request")
      case .eager: EagerScope(name: "request") {}
      }
    }
  }

  @Test(
    "A face of a bean further out is released once, by its owner, whatever the scope object",
    arguments: ScopeObject.allCases)
  func faceOfAnOuterBean(object: ScopeObject) throws {
    let (application, journal) = (try Environment(name: "application"), journal)
    try application.define(Pool.self, factory: { Pool(journal) })
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define((any Face).self, factory: { (pool: Pool) -> any Face in pool })
    } scope: {
      object.make()
    }
    for seed in 1...2 {
      let request = try requests.build(seed)
      _ = try request.getBean((any Face).self)
      try request.shutdown()
    }
    #expect(journal.entries.isEmpty)
    try application.shutdown()
    #expect(journal.entries == ["pool"])
  }

  @Test("A child builds each bean once, whatever its scope object", arguments: ScopeObject.allCases)
  func oneInstance(object: ScopeObject) throws {
    let (application, journal) = (try Environment(name: "application"), journal)
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define(Part.self, factory: Part.init) { $0.id("part").onDestroy { _ in journal.note("part") } }
        .define(Holder.self, factory: Holder.init) { $0.onDestroy { _ in journal.note("holder") } }
    } scope: {
      object.make()
    }
    let request = try requests.build(1)
    var seen = [try request.getBean(Holder.self).part]
    seen.append(try request.getBean(Part.self))
    seen.append(try request.getBean(Part.self, byId: "part"))
    seen.append(try request.withBean(Part.self) { $0 })
    seen.append(try #require(try request.getBean(Part?.self)))
    seen += try request.getBeansByType(Part.self)
    seen.append(try request.getBean(Provider<Part>.self).get())
    seen.append(try request.getBean(Lazy<Part>.self).get())
    #expect(Set(seen.map(ObjectIdentifier.init)).count == 1)
    try application.shutdown()
    #expect(journal.entries == ["holder", "part"])
  }

  @Test(
    "Beans of a child with a scope object may be asynchronous and have schedules",
    arguments: [.abstract, .own] as [ScopeObject])
  func asynchronousBeans(object: ScopeObject) async throws {
    let (application, journal) = (try Environment(name: "application"), journal)
    let requests = try application.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(
          Part.self, lazy: true,
          async: {
            await Task.yield()
            return Part()
          }
        )
        .scheduled(every: .seconds(3_600)) { _ in }
        .onDestroy { _ in await journal.noteLater("part") })
    } scope: {
      object.make()
    }
    try await requests.withChild(1) { request in
      let part = try await request.getBean(awaiting: Part.self)
      #expect(try await request.getBean(awaiting: Part.self) === part)
      #expect(try request.getBean(Part.self) === part)
    }
    #expect(journal.entries == ["part"])
    try await application.shutdown()
  }

  // MARK: repeated calls

  @Test("A registered scope is called at every lookup, and decides each time")
  func registeredScopeIsCalledEveryTime() throws {
    let environment = try Environment(name: "application")
    let scope = RotatingScope(name: "own")
    try environment.registerScope(scope)
    try environment.define(environment.bean(Part.self, id: "part").scope("own"))
    try environment.define(environment.bean(Holder.self, factory: Holder.init).scope("prototype"))
    try environment.startup()
    var seen: [Part] = []
    seen.append(try environment.getBean(Part.self))
    seen.append(try environment.getBean(Part.self))
    seen.append(try environment.getBean(Part.self, byId: "part"))
    seen.append(try environment.withBean(Part.self) { $0 })
    seen += try environment.getBeansByType(Part.self)
    seen.append(try environment.getBean(Holder.self).part)
    seen.append(try environment.getBean(Holder.self).part)
    #expect(scope.asked.value == 7)
    #expect(Set(seen.map(ObjectIdentifier.init)).count == 7)
    try environment.shutdown()
  }

  // MARK: prepare

  @Test("A shutdown waits for a child's prepare, and the child is finished then")
  func shutdownWaitsForPrepare() throws {
    let journal = journal
    let gate = ThreadGate()
    let requests = try application.childFactory(
      "request", seed: Int.self, configure: { try $0.define($0.bean(Part.self)) },
      scope: {
        PreparingScope(name: "request") {
          try gate.pass()
          journal.note("prepared")
        }
      })
    try application.startup()
    let opening = BackgroundThread { try requests.build(1) }
    try gate.arrival()
    let shutting = BackgroundThread {
      try application.shutdown()
      journal.note("shutdown returned")
    }
    try shutting.waitUntilAsleepOrEnded()
    gate.open()
    try requireFault(.finished) { try opening.value() }
    try shutting.value()
    #expect(journal.entries == ["prepared", "shutdown returned"])
  }

  @Test("A child whose parent ends in prepare throws finished, and beans built in prepare are released")
  func parentEndsInPrepare() throws {
    let (application, journal) = (application, journal)
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Part.self).onDestroy { _ in journal.note("released") }) },
      scope: { EagerScope(name: "request") { application.finish() } })
    try requireFault(.finished) { try requests.build(1) }
    try application.shutdown()
    #expect(journal.entries == ["released"])
    #expect(!application.hasOpenChildren)
  }

  // MARK: registered scopes

  /// Declares lazy beans, of which "middle" belongs to a registered scope; each notes its end.
  private func layers(_ application: Environment) throws {
    let journal = journal
    for id in ["first", "middle", "last"] {
      let part = application.bean(Part.self, id: id, lazy: true).onDestroy { _ in journal.note(id) }
      if id == "middle" { part.scope("own") }
      try application.define(part)
    }
  }

  @Test("Beans of a registered scope are released in their place among all others, last created first")
  func registeredScopeReleasesInPlace() throws {
    try application.registerScope(AbstractBeanScope(name: "own"))
    try layers(application)
    for id in ["first", "middle", "last"] { _ = try application.getBean(Part.self, byId: id) }
    try application.shutdown()
    #expect(journal.entries == ["last", "middle", "first"])
  }

  @Test("Beans of a scope that is itself a bean are released in their place among all others")
  func scopeBeanReleasesInPlace() throws {
    try application.define(application.bean(AbstractBeanScope.self, factory: { AbstractBeanScope(name: "own") }))
    try layers(application)
    for id in ["first", "middle", "last"] { _ = try application.getBean(Part.self, byId: id) }
    try application.shutdown()
    #expect(journal.entries == ["last", "middle", "first"])
  }

  @Test("A bean that holds one of a registered scope is released before it")
  func holdersAreReleasedFirst() throws {
    let journal = journal
    try application.registerScope(AbstractBeanScope(name: "own"))
    try application.define(
      application.bean(Holder.self, factory: Holder.init).onDestroy { _ in journal.note("holder") })
    try application.define(application.bean(Part.self).scope("own").onDestroy { _ in journal.note("part") })
    try application.startup()
    try application.shutdown()
    #expect(journal.entries == ["holder", "part"])
  }

  @Test("An early finish of a registered scope releases its own beans, last created first, and nothing else")
  func earlyFinishOfARegisteredScope() throws {
    let journal = journal
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    for id in ["a", "b", "c"] {
      try application.define(
        application.bean(Part.self, id: id, lazy: true).scope("own").onDestroy { _ in journal.note(id) })
    }
    try application.define(application.bean(Part.self, id: "other").onDestroy { _ in journal.note("other") })
    for id in ["b", "c", "a"] { _ = try application.getBean(Part.self, byId: id) }
    scope.finish()
    #expect(journal.entries == ["a", "c", "b"])
    #expect(!application.isFinished)
    try application.shutdown()
    #expect(journal.entries == ["a", "c", "b", "other"])
  }

  @Test("The release of an environment waits for a finish of a registered scope that is under way")
  func releaseWaitsForAFinish() throws {
    let (gate, journal) = (ThreadGate(), journal)
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    try application.define(
      application.bean(Link.self, id: "link", factory: { Link() }).onDestroy { _ in journal.note("link") })
    try application.define(
      application.bean(Part.self, lazy: true).scope("own").requires(id: "link").onDestroy { _ in
        try gate.pass()
        journal.note("part")
      })
    _ = try application.getBean(Part.self)
    let finishing = BackgroundThread { scope.finish() }
    try gate.arrival()
    application.finish()
    #expect(journal.entries.isEmpty)
    gate.open()
    try finishing.value()
    #expect(journal.entries == ["part", "link"])
    try application.shutdown()
  }

  @Test("A finish of a registered scope that comes while its environment releases leaves the beans to their places")
  func finishDuringTheRelease() throws {
    let (gate, journal) = (ThreadGate(), journal)
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    try application.define(application.bean(Part.self).scope("own").onDestroy { _ in journal.note("part") })
    try application.define(
      application.bean(Holder.self, factory: Holder.init).onDestroy { _ in
        try gate.pass()
        journal.note("holder")
      })
    try application.startup()
    let shutting = BackgroundThread { try application.shutdown() }
    try gate.arrival()
    scope.finish()
    gate.open()
    try shutting.value()
    #expect(journal.entries == ["holder", "part"])
  }

  @Test("Lookups of beans of a registered scope are finished after its early finish, those of others are not")
  func lookupsAfterAnEarlyFinish() throws {
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    for id in ["built", "never built"] {
      try application.define(application.bean(Part.self, id: id, lazy: true).scope("own"))
    }
    try application.define(application.bean(Part.self, id: "other"))
    try application.define(
      application.bean(Holder.self, factory: Holder.init).argument(0, ref: "built").scope("prototype"))
    _ = try application.getBean(Part.self, byId: "built")
    scope.finish()
    try requireFault(.finished) { try application.getBean(Part.self, byId: "built") }
    try requireFault(.finished) { try application.getBean(Part.self, byId: "never built") }
    try requireFault(.finished) { try application.getBean(Holder.self) }
    _ = try application.getBean(Part.self, byId: "other")
    try application.shutdown()
  }

  @Test("Beans of a registered scope are included in the report")
  func report() throws {
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    for id in ["a", "b"] { try application.define(application.bean(Part.self, id: id, lazy: true).scope("own")) }
    try application.define(application.bean(Part.self, id: "single"))
    for id in ["a", "b", "a"] { _ = try application.getBean(Part.self, byId: id) }
    let report = application.report()
    #expect(report.contains("application: open, 3 beans"), "\(report)")
    try application.shutdown()
  }

  @Test("Beans of a registered scope are included in the statistics, as created and as released")
  func statistics() throws {
    let scope = AbstractBeanScope(name: "own")
    try application.registerScope(scope)
    for id in ["a", "b"] { try application.define(application.bean(Part.self, id: id, lazy: true).scope("own")) }
    try application.define(application.bean(Part.self, id: "single"))
    for id in ["a", "b", "a"] { _ = try application.getBean(Part.self, byId: id) }
    #expect(application.statistics().first?.created == 3)
    try application.shutdown()
    #expect(application.statistics().first?.released == 3)
  }

  // MARK: outside a request

  @Test("A provider of a bean that only configure declares is scopeNotActive outside a request")
  func providerOfAConfiguredBean() throws {
    try application.define(application.bean(Asking.self, factory: Asking.init))
    let requests = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Part.self)) }
    let asking = try application.getBean(Asking.self)
    try requireFault(.scopeNotActive, description: "request", "Part") { try asking.part.get() }
    for number in 0..<2 {
      let isOwn = try requests.withChild(number) { try asking.part.get() === $0.getBean(Part.self) }
      #expect(isOwn)
    }
    try requireFault(.scopeNotActive) { try asking.part.get() }
    try application.shutdown()
  }

  @Test("A singleton whose factory looks up the current request's bean would keep it: a captive")
  func captiveOfTheCurrentRequest() throws {
    try application.define(
      application.bean(
        Holder.self, lazy: true,
        factory: { Holder(try Environment.current?.getBean(Part.self) ?? Part()) }))
    let requests = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Part.self)) }
    try requireFault(.captiveDependency, through: "Holder", "Part") {
      try requests.withChild(1) { try $0.getBean(Holder.self) }
    }
    // The singleton has kept nothing, and can be built without a request.
    _ = try application.getBean(Holder.self)
    try application.shutdown()
  }

  @Test("A singleton whose factory looks up a bean of a captured request would keep it: a captive")
  func captiveOfACapturedRequest() throws {
    let captured = Captured<Environment>()
    try application.define(
      application.bean(Holder.self, lazy: true, factory: { Holder(try captured.value?.getBean(Part.self) ?? Part()) }))
    try application.define(application.bean(Part.self, id: "declared outside").scope("request"))
    let requests = try application.childFactory("request", seed: Int.self)
    let request = try requests.build(1)
    // The error is the same if the bean has been built before.
    _ = try request.getBean(Part.self)
    captured.value = request
    try requireFault(.captiveDependency) { try application.getBean(Holder.self) }
    captured.value = nil
    _ = try application.getBean(Holder.self)
    try application.shutdown()
  }

  @Test("A request's bean that is looked up by an undeclared protocol is a captive, too, each time")
  func captiveByAProtocol() throws {
    try application.define(
      application.bean(Keeper.self, lazy: true, factory: { Keeper(try Environment.current?.getBean((any Kept).self)) }))
    try application.define(application.bean(KeptPart.self).scope("request"))
    let requests = try application.childFactory("request", seed: Int.self)
    for seed in 1...3 {
      try requests.withChild(seed) { request in
        // The lookup may be cached from before.
        if seed == 3 { _ = try request.getBean((any Kept).self) }
        try requireFault(.captiveDependency) { try request.getBean(Keeper.self) }
      }
    }
    try application.shutdown()
  }

  private protocol Kept: AnyObject {}

  private final class KeptPart: Kept, Initializable { init() {} }

  private final class Keeper {
    let kept: (any Kept)?

    init(_ kept: (any Kept)?) { self.kept = kept }
  }

  @Test("A singleton that calls a provider while it is built would keep the request's bean: a captive")
  func captiveThroughAProvider() throws {
    try application.define(
      application.bean(Holder.self, lazy: true, factory: { (part: Provider<Part>) in Holder(try part.get()) }))
    try application.define(application.bean(Part.self).scope("request"))
    let requests = try application.childFactory("request", seed: Int.self)
    try requireFault(.captiveDependency) { try requests.withChild(1) { try $0.getBean(Holder.self) } }
    try application.shutdown()
  }

  @Test("A session's bean whose factory looks up a request's would keep it: a captive; the other way round is none")
  func captiveOfASession() throws {
    let sessions = try application.childFactory("session", seed: String.self) {
      try $0.define(
        $0.bean(
          Holder.self, factory: { Holder(try Environment.current?.getBean(Part.self, byId: "request") ?? Part()) }))
      try $0.define($0.bean(Part.self, id: "session"))
    }
    let requests = try sessions.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Part.self, id: "request"))
      try $0.define(
        $0.bean(
          Holder.self, id: "own",
          factory: { (request: Environment) in Holder(try request.getBean(Part.self, byId: "session")) }))
    }
    let session = try sessions.build("a")
    try requests.withChild(1, in: session) { request in
      _ = try request.getBean(Holder.self, byId: "own")
      try requireFault(.captiveDependency) { try session.getBean(Holder.self) }
    }
    _ = try session.getBean(Holder.self)
    try application.shutdown()
  }
}

private final class Part: Initializable { init() {} }

private protocol Face: AnyObject {}

private final class Pool: Face, DisposableBean {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() { journal.note("pool") }
}

/// The least scope object of a child.
private final class NamedScope: ChildScope {
  let name: String
  init(name: String) { self.name = name }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func finish() {}
}

private final class Holder {
  let part: Part
  init(_ part: Part) { self.part = part }
}

private final class Asking {
  let part: Provider<Part>
  init(_ part: Provider<Part>) { self.part = part }
}

/// Returns a new instance each time.
private final class RotatingScope: BeanScope {
  let name: String
  let asked = Counter()
  init(name: String) { self.name = name }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
    try asked.counting(factory.create(bean))
  }
  func finish() {}
}

private final class NotingScope: AbstractBeanScope, @unchecked Sendable {  // adds a `Sendable` constant
  private let journal: Journal
  init(name: String, _ journal: Journal) {
    self.journal = journal
    super.init(name: name)
  }
  override func finish() {
    journal.note("finish")
    super.finish()
  }
}

private class PreparingScope: AbstractBeanScope, @unchecked Sendable {  // adds a `Sendable` constant
  private let body: @Sendable () throws -> Void
  init(name: String, _ body: @escaping @Sendable () throws -> Void) {
    self.body = body
    super.init(name: name)
  }
  override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws { try body() }
}

/// Builds its beans early, and runs a closure afterwards.
private final class EagerScope: PreparingScope, @unchecked Sendable {  // adds no state
  override func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {
    _ = try get(bean: bean, factory: factory)
    try super.prepare(bean: bean, factory: factory)
  }
}

/// A bean that may have a reference to another one.
private final class Link {
  var other: Link?
}
