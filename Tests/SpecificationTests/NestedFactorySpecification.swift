import Beans
import Testing

@Suite("Factories inside factories") struct NestedFactorySpecification {
  @FreshEnvironment("application") private var application

  @Test("Requests in a session share the session's beans; other sessions have their own")
  func requestsInSession() throws {
    let shop = try Shop()
    let session = try shop.sessions.build("s1")
    let other = try shop.sessions.build("s2")
    let first = try shop.requests.build(Request(path: "/a"), in: session)
    let second = try shop.requests.build(Request(path: "/b"), in: session)
    let foreign = try shop.requests.build(Request(path: "/c"), in: other)
    let cart = try first.getBean(Cart.self)
    #expect(try second.getBean(Cart.self) === cart)
    #expect(try session.getBean(Cart.self) === cart)
    #expect(try foreign.getBean(Cart.self) !== cart)
    #expect(cart.owner == "s1")
    #expect(first.parent === session)
    try shop.application.shutdown()
  }

  @Test("A request sees the seeds of its session and its own")
  func bothSeeds() throws {
    let shop = try Shop()
    let session = try shop.sessions.build("s1")
    let request = try shop.requests.build(Request(path: "/a"), in: session)
    #expect(try request.getBean(Label.self).text == "s1 /a")
    try shop.application.shutdown()
  }

  @Test("A plain environment inside a request sees the prototypes and templates that sessions and requests declare")
  func plainInside() throws {
    let sessions = try application.childFactory("session", seed: String.self) { session in
      try session.define(
        session.bean(Note.self, id: "of session", factory: { (owner: String) in Note(text: owner) }).scope("prototype"))
      try session.define(
        session.bean(Note.self, id: "session's template", abstract: true, factory: { Note(text: "s") }))
    }
    let requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Note.self, id: "of request", factory: { (number: Int) in Note(text: "\(number)") })
          .scope("prototype"))
      try request.define(
        request.bean(Note.self, id: "request's template", parent: "session's template", abstract: true))
    }
    for number in 1...2 {
      let request = try requests.build(number, in: sessions.build("visitor \(number)"))
      let inside = try Environment(name: "inside", parent: request)
      try inside.define(inside.bean(Note.self, id: "own", parent: "request's template"))
      let further = try Environment(name: "further", parent: inside)
      try further.define(further.bean(Note.self, id: "further", parent: "session's template"))
      for environment in [request, inside, further] {
        let note = try environment.getBean(Note.self, byId: "of session")
        #expect(note.text == "visitor \(number)")
        #expect(try environment.getBean(Note.self, byId: "of session") !== note)
        #expect(try environment.getBean(Note.self, byId: "of request").text == "\(number)")
      }
      #expect(try further.getBean(Note.self, byId: "own").text == "s")
      #expect(try further.getBean(Note.self, byId: "further").text == "s")
      #expect(throws: EnvironmentError.self) { try inside.getBean(Note.self, byId: "request's template") }
    }
  }

  @Test("A session does not see its requests")
  func sessionDoesNotSeeRequests() throws {
    let shop = try Shop()
    let session = try shop.sessions.build("s1")
    _ = try shop.requests.build(Request(path: "/a"), in: session)
    try requireFault(.unknownBean, .scopeNotActive) { try session.getBean(Request.self) }
    try requireFault(.scopeNotActive) { try session.getBean(Label.self) }
    try requireFault(.scopeNotActive) { try shop.application.getBean(Cart.self) }
    try shop.application.shutdown()
  }

  @Test("A request needs a session of the right factory as its parent")
  func wrongParent() throws {
    let shop = try Shop()
    try requireFault { try shop.requests.build(Request(path: "/")) }
    try requireFault { try shop.requests.build(Request(path: "/"), in: shop.application) }
    let session = try shop.sessions.build("s1")
    let request = try shop.requests.build(Request(path: "/"), in: session)
    try requireFault { try shop.requests.build(Request(path: "/"), in: request) }
    let stranger = try Shop()
    let strange = try stranger.sessions.build("s1")
    try requireFault { try shop.requests.build(Request(path: "/"), in: strange) }
    try shop.application.shutdown()
    try stranger.application.shutdown()
  }

  @Test("A session-scoped bean that only a request could build is a fault of startup")
  func sessionNeedsRequest() throws {
    let sessions = try application.childFactory("session", seed: String.self)
    _ = try sessions.childFactory("request", seed: Request.self)
    try application.define(application.bean(Handler.self, factory: Handler.init).scope("session"))
    try application.define(application.bean(Pool.self))
    try requireFault(.unknownBean, .captiveDependency, description: "Request") { try application.startup() }
  }

  @Test("Factories nest to any depth: application, tenant, session, request")
  func fourLevels() throws {
    let tenants = try application.childFactory("tenant", seed: Int.self)
    let sessions = try tenants.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Request.self) { child in
      try child.define(
        child.bean(Label.self) { (tenant: Int, session: String, request: Request) in
          Label(text: "\(tenant) \(session) \(request.path)")
        })
    }
    let tenant = try tenants.build(3)
    let session = try sessions.build("s", in: tenant)
    let request = try requests.build(Request(path: "/"), in: session)
    #expect(try request.getBean(Label.self).text == "3 s /")
    try application.shutdown()
    try requireFault(.finished) { try request.getBean(Label.self) }
  }

  @Test("A scope name may occur only once in a chain of factories")
  func scopeNameOnce() throws {
    let requests = try application.childFactory("request", seed: Int.self)
    try requireFault(description: "request") {
      _ = try requests.childFactory("request", seed: String.self)
      try application.startup()
    }
  }

  @Test("A declaration of a nested factory after startup throws frozen")
  func nestedAfterStartup() throws {
    let sessions = try application.childFactory("session", seed: Int.self)
    try application.startup()
    try requireFault(.frozen) { try sessions.childFactory("request", seed: String.self) }
  }

  @Test("A child of a finished application cannot be built")
  func buildAfterShutdown() throws {
    let shop = try Shop()
    let session = try shop.sessions.build("s1")
    try session.shutdown()
    try requireFault(.finished) { try shop.requests.build(Request(path: "/"), in: session) }
    try shop.application.shutdown()
    try requireFault(.finished) { try shop.sessions.build("s2") }
    try requireFault(.finished) { try shop.sessions.withChild("s2") { _ in } }
  }
}

// MARK: - beans

/// An application with requests in sessions.
private struct Shop {
  let application: Environment
  let sessions: EnvironmentFactory<String>
  let requests: EnvironmentFactory<Request>

  init() throws {
    application = try Environment(name: "application")
    sessions = try application.childFactory("session", seed: String.self)
    requests = try sessions.childFactory("request", seed: Request.self)
    try application.define(application.bean(Cart.self, factory: Cart.init).scope("session"))
    try application.define(
      application.bean(
        Label.self, factory: { (owner: String, request: Request) in Label(text: "\(owner) \(request.path)") }
      ).scope("request"))
  }
}

private struct Request { let path: String }

private final class Label {
  let text: String
  init(text: String) { self.text = text }
}

private final class Pool: Initializable { init() {} }

private final class Handler {
  init(request: Request, pool: Pool) {}
}

private final class Cart {
  let owner: String
  init(owner: String) { self.owner = owner }
}

private final class Note {
  let text: String

  init(text: String) { self.text = text }
}
