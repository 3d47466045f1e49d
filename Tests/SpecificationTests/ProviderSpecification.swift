import Beans
import Testing

@Suite("Provider") struct ProviderSpecification {
  @FreshEnvironment private var environment

  @Test("A provider resolves when it is called, not before")
  func resolvesWhenCalled() throws {
    let built = Counter()
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self, lazy: true, factory: { built.counting(Part()) }))
    let holder = try environment.getBean(Holder.self)
    #expect(built.value == 0)
    let part = try holder.part.get()
    #expect(try holder.part.get() === part)
    #expect(built.value == 1)
  }

  @Test("A provider of a prototype returns a new instance with every call")
  func prototypes() throws {
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self).scope("prototype"))
    let holder = try environment.getBean(Holder.self)
    #expect(try holder.part.get() !== holder.part.get())
  }

  @Test("A provider breaks a cycle that would be a fault otherwise")
  func breaksCycles() throws {
    try environment.define(environment.bean(Hen.self, factory: Hen.init))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    let hen = try environment.getBean(Hen.self)
    let egg = try hen.egg.get()
    #expect(egg.hen === hen)
  }

  @Test("A provider of a type with two candidates throws ambiguous, at startup or when called")
  func ambiguous() throws {
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self))
    try environment.define(environment.bean(Part.self))
    try requireFault(.ambiguousBean) { try environment.getBean(Holder.self).part.get() }
  }

  @Test("A provider of a longer-lived bean returns the child's bean inside a child")
  func looksInCurrent() throws {
    let environment = try Environment(name: "application")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self).scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let holder = try environment.getBean(Holder.self)
    let first = try requests.withChild(1) { child in
      let part = try holder.part.get()
      #expect(try child.getBean(Part.self) === part)
      return part
    }
    let second = try requests.withChild(2) { _ in try holder.part.get() }
    #expect(first !== second)
  }

  @Test("A request's bean is scopeNotActive in a session outside a request")
  func inASession() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(application.bean(Holder.self, factory: Holder.init))
    let sessions = try application.childFactory("session", seed: Int.self)
    let requests = try sessions.childFactory("request", seed: String.self) { try $0.define($0.bean(Part.self)) }
    let holder = try application.getBean(Holder.self)
    try sessions.withChild(1) { _ in
      try requireFault(.scopeNotActive) { try holder.part.get() }
      try requests.withChild("a") { request in
        let part = try holder.part.get()
        #expect(try request.getBean(Part.self) === part)
      }
    }
  }

  @Test("A request's bean is scopeNotActive outside a request")
  func outsideARequest() throws {
    let environment = try Environment(name: "application")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self).scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let holder = try environment.getBean(Holder.self)
    try requireFault(.scopeNotActive, description: "request", "Part") { try holder.part.get() }
    _ = try requests.withChild(1) { _ in try holder.part.get() }
    try requireFault(.scopeNotActive) { try holder.part.get() }
  }

  @Test("A current environment that is no descendant is ignored")
  func foreignCurrent() throws {
    let environment = try Environment(name: "application")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self))
    let stranger = try Environment(name: "stranger")
    try stranger.define(stranger.bean(Part.self))
    let part = try environment.getBean(Part.self)
    let holder = try environment.getBean(Holder.self)
    let found = try Environment.$current.withValue(stranger) { try holder.part.get() }
    #expect(found === part)
    #expect(try stranger.getBean(Part.self) !== part)
  }

  @Test("A provider injected for a request looks in that request, even if another one is current")
  func injectedForARequest() throws {
    let environment = try Environment(name: "application")
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Holder.self, factory: Holder.init).scope("request"))
    try environment.define(environment.bean(Part.self).scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let first = try requests.build(1)
    let second = try requests.build(2)
    let holder = try first.getBean(Holder.self)
    let found = try Environment.$current.withValue(second) { try holder.part.get() }
    #expect(try first.getBean(Part.self) === found)
    try first.shutdown()
    try second.shutdown()
  }

  @Test("A provider held by a session's bean looks in the current request of that session, not of another")
  func heldBySession() throws {
    let application = try Environment(name: "application")
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    try application.define(application.bean(Holder.self, factory: Holder.init).scope("session"))
    try application.define(application.bean(Part.self).scope("request"))
    let (session, other) = (try sessions.build("a"), try sessions.build("b"))
    let holder = try session.getBean(Holder.self)
    let isOwn = try requests.withChild(1, in: session) { try holder.part.get() === $0.getBean(Part.self) }
    #expect(isOwn)
    try requireFault(.scopeNotActive) { try requests.withChild(2, in: other) { _ in try holder.part.get() } }
    try application.shutdown()
  }

  @Test("A provider called in an environment that cannot start throws the cause")
  func inAFailedEnvironment() throws {
    let application = try Environment(name: "application")
    try application.define(application.bean(Holder.self, factory: Holder.init))
    _ = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Part.self)) }
    let holder = try application.getBean(Holder.self)
    try requireFault(.scopeNotActive) { try holder.part.get() }
    let child = try Environment(name: "child", parent: application)
    try child.define(child.bean(Hen.self, factory: Hen.init).argument(0, ref: "nowhere"))
    let fault = try requireFault(.unknownBean) { try Environment.$current.withValue(child) { try holder.part.get() } }
    #expect(fault.passes("Hen"))
    try application.shutdown()
  }

  @Test("A provider of a finished environment throws finished")
  func finished() throws {
    try environment.define(environment.bean(Holder.self, factory: Holder.init))
    try environment.define(environment.bean(Part.self))
    let holder = try environment.getBean(Holder.self)
    try environment.shutdown()
    try requireFault(.finished) { try holder.part.get() }
  }
}

private final class Part: Initializable { init() {} }

private final class Holder {
  let part: Provider<Part>
  init(part: Provider<Part>) { self.part = part }
}

private final class Hen {
  let egg: Provider<Egg>
  init(egg: Provider<Egg>) { self.egg = egg }
}

private final class Egg {
  let hen: Hen
  init(hen: Hen) { self.hen = hen }
}
