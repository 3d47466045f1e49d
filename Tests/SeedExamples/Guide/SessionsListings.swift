// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

struct Sessions {
  final class Cart: Sendable {}
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

  func fill(_ cart: Cart) -> Response { Response(text: "\(ObjectIdentifier(cart))") }
}

// listing
import Beans
import BeansSessions

// end

extension Sessions {
  // continued
  func declareSessions(
    in shop: Environment, onEvent: @escaping @Sendable (SessionEvent) -> Void
  ) throws -> SessionRegistry<Void> {
    let factory = try shop.childFactory("session", seed: Void.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return SessionRegistry(factory, capacity: 10_000, idleLimit: .seconds(1_800), onEvent: onEvent)
  }
  // end
}

// listing
import Beans
import BeansSessions

// end

extension Sessions {
  // continued
  func respond(_ request: Request, _ sessions: SessionRegistry<Void>) throws -> Response {
    do {
      let known = try request.cookie.flatMap { id in
        try sessions.withSession(id) { session in try fill(session.getBean(Cart.self)) }
      }
      if let known { return known }
      // Without a cookie, or with one that names no session: a new id, not the one that the client has sent.
      let id = sessions.newId()
      var response = try sessions.withSession(id, opening: ()) { session in try fill(session.getBean(Cart.self)) }
      response.cookie = id
      return response
    } catch let error as EnvironmentError where error.code == .exhausted {
      return Response(status: 503, retryAfter: 60)
    }
  }
  // end
}

// listing
import Beans
import BeansSessions

// end

extension Sessions {
  // continued
  func logIn(_ id: String, _ sessions: SessionRegistry<Void>) throws -> Response {
    Response(text: "welcome", cookie: try sessions.rotate(id))
  }
  // end
}

extension Sessions {
  // listing
  func declareRequests(in sessions: EnvironmentFactory<Void>) throws -> EnvironmentFactory<Request> {
    try sessions.childFactory("request", seed: Request.self) { request in
      try request.define(request.bean(Handler.self, factory: Handler.init))
    }
  }

  func respond(
    to request: Request, _ requests: EnvironmentFactory<Request>, in session: Environment
  ) throws -> Response {
    try requests.withChild(request, in: session) { child in try child.getBean(Handler.self).respond() }
  }
  // end
}

extension Sessions {
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
}

// listing
import Beans
import BeansSessions

// end

extension Sessions {
  // continued
  func declareSessions(in shop: Environment, releasedOn executor: any TaskExecutor) throws -> SessionRegistry<Void> {
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { ExecutorScope(name: "session", executor: executor) }
    ) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    return SessionRegistry(factory, capacity: 10_000, idleLimit: .seconds(1_800))
  }
  // end
}

// listing
import BeansEventLoop
import BeansServer

// end

extension Sessions {
  // continued
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

  func declareRequests(
    in sessions: EnvironmentFactory<Void>, currentLoop: @escaping @Sendable () -> EventLoop
  ) throws -> EnvironmentFactory<Request> {
    try sessions.childFactory(
      "request", seed: Request.self, scope: { RequestScope(loop: currentLoop(), deadline: .seconds(30)) }
    ) { request in
      try request.define(request.bean(Handler.self, factory: Handler.init))
    }
  }
  // end
}
