import Beans
import BeansEventLoop
import BeansServer

// Marked listings stand in the article to the letter: see GuideTests.swift.

struct Sessions {
  final class Cart: Sendable {}
  struct Tenant: Sendable { let name: String }
  struct Request: Sendable { let cookie: String? }
  struct Response: Sendable, Equatable {
    var text = ""
    var cookie: String?
    var status = 200
    var retryAfter: Int?
  }

  final class Handler: Sendable {
    private let (request, cart): (Request, Cart)
    init(request: Request, cart: Cart) { (self.request, self.cart) = (request, cart) }
    func respond() -> Response { Response(text: "\(ObjectIdentifier(cart))", cookie: request.cookie) }
  }

  struct Metrics: Sendable {
    func count(_ name: String) {}
  }
}

extension Sessions {
  // listing
  func declareSessions(in shop: Environment, on loop: EventLoop, _ metrics: Metrics) throws -> SessionRegistry<Void> {
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { SessionScope(loop: loop, idleTimeout: .seconds(1_800)) }
    ) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return SessionRegistry(factory, capacity: 100_000) { event in
      switch event {
      case .opened: metrics.count("opened")
      case .rotated: break
      case .expired: metrics.count("expired")
      case .evicted: metrics.count("evicted")
      case .ended: metrics.count("ended")
      }
    }
  }
  // end

  // listing
  func declareSessions(
    in shop: Environment, onEvent: @escaping @Sendable (SessionEvent) -> Void
  ) throws -> SessionRegistry<Void> {
    let factory = try shop.childFactory("session", seed: Void.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return SessionRegistry(factory, capacity: 10_000, idleLimit: .seconds(1_800), onEvent: onEvent)
  }
  // end

  // listing
  func declareSessions(in shop: Environment, releasedOn executor: any TaskExecutor) throws -> SessionRegistry<Void> {
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { ExecutorScope(name: "session", executor: executor) }
    ) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return SessionRegistry(factory, capacity: 10_000, idleLimit: .seconds(1_800))
  }
  // end

  // listing
  func answer(_ request: Request, _ sessions: SessionRegistry<Void>) throws -> Response {
    do {
      let known = try request.cookie.flatMap { id in
        try sessions.withSession(id) { session in try fill(session.getBean(Cart.self)) }
      }
      if let known { return known }
      // No cookie, or one that names no session: the id is one of ours, whatever the client sent.
      let id = sessions.newId()
      var response = try sessions.withSession(id, opening: ()) { session in try fill(session.getBean(Cart.self)) }
      response.cookie = id
      return response
    } catch let error as EnvironmentError where error.code == .exhausted {
      return Response(status: 503, retryAfter: 60)
    }
  }
  // end

  // listing
  func logIn(_ id: String, _ sessions: SessionRegistry<Void>) throws -> Response {
    Response(text: "welcome", cookie: try sessions.rotate(id))
  }
  // end

  // listing
  func declareTenants(in service: Environment) throws -> EnvironmentFactory<Tenant> {
    let tenants = try service.childFactory("tenant", seed: Tenant.self)
    let sessions = try tenants.childFactory("session", seed: Void.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    try service.define(service.bean(sessions))
    return tenants
  }

  func open(_ tenant: Tenant, of tenants: EnvironmentFactory<Tenant>) throws -> SessionRegistry<Void> {
    let environment = try tenants.build(tenant)
    return SessionRegistry(try environment.getBean(EnvironmentFactory<Void>.self), in: environment)
  }
  // end

  // listing
  func declareRequests(
    in sessions: EnvironmentFactory<Void>, currentLoop: @escaping @Sendable () -> EventLoop
  ) throws -> EnvironmentFactory<Request> {
    try sessions.childFactory(
      "request", seed: Request.self, scope: { RequestScope(loop: currentLoop(), deadline: .seconds(30)) }
    ) { request in
      try request.define(request.bean(Handler.self, factory: Handler.init))
    }
  }

  func respond(
    to request: Request, _ requests: EnvironmentFactory<Request>, in session: Environment
  ) throws -> Response {
    try requests.withChild(request, in: session) { child in try child.getBean(Handler.self).respond() }
  }
  // end

  // listing
  func begin(
    _ request: Request, _ requests: EnvironmentFactory<Request>, in session: Environment,
    send: (_ response: Response, _ whenWritten: @escaping @Sendable () -> Void) -> Void
  ) throws {
    let child = try requests.build(request, in: session)
    do {
      send(try child.getBean(Handler.self).respond()) { child.finish() }
    } catch {
      child.finish()
      throw error
    }
  }
  // end

  private func fill(_ cart: Cart) -> Response { Response(text: "\(ObjectIdentifier(cart))") }
}
