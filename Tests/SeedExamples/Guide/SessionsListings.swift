import Beans
import BeansEventLoop
import BeansServer

// Marked listings stand in the article to the letter: see GuideTests.swift.

struct Sessions {
  final class Cart: Sendable {}
  struct Request: Sendable { let cookie: String? }
  struct Response: Sendable, Equatable {
    var text = ""
    var cookie: String?
    var status = 200
    var retryAfter: Int?
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

  private func fill(_ cart: Cart) -> Response { Response(text: "\(ObjectIdentifier(cart))") }
}
