// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

// listing
import Beans
import BeansSessions

// end

extension SessionsArticle {
  // continued
  func respond(_ request: Request, _ sessions: Sessions<Void>) throws -> Response {
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

extension TwoStores {
  // continued
  final class Cart: Sendable {
    private struct Content: Codable {
      /// Quantities by product.
      var goods: [Int: Int] = [:]
      /// The id of the order that a checkout has begun to place.
      var order: String?
    }

    private let content: SessionValue<Content>

    init(state: SessionState) throws {
      content = try state.value("cart", default: Content(), onConflict: .refuse)
    }

    var goods: [Int: Int] { content.value.goods }
    var order: String? { content.value.order }

    func add(_ product: Int) { content.update { $0.goods[product, default: 0] += 1 } }

    func prepareOrder(_ newId: String) -> Order? {
      content.update { content in
        if content.goods.isEmpty { return nil }
        let id = content.order ?? newId
        content.order = id
        return Order(id: id, goods: content.goods)
      }
    }

    func settle(_ order: Order) {
      content.update { content in
        guard content.order == order.id else { return }
        for (product, quantity) in order.goods { content.goods[product, default: 0] -= quantity }
        content.goods = content.goods.filter { $0.value > 0 }
        content.order = nil
      }
    }
  }
  // end

  // listing
  func checkOut(_ cookie: String?, _ sessions: Sessions<SessionState>, _ orders: Orders) async throws -> Response {
    // The session keeps the id of the order.
    let prepared = try await sessions.withSession(cookie: cookie) { session in
      try session.environment.getBean(Cart.self).prepareOrder(newId())
    }.value
    var placed: Order?
    do {
      let answer = try await sessions.withSession(cookie: cookie) { session in
        let cart = try session.environment.getBean(Cart.self)
        guard let prepared, prepared.id == cart.order else { throw ShopError.emptyCart }
        // The commit decides.
        let order = try await orders.place(prepared)
        placed = order
        // The session follows.
        cart.settle(order)
        session.rotate()
        return order
      }
      guard case .set(let id) = answer.cookie else { return Response(status: 201, order: answer.value) }
      return Response(status: 201, order: answer.value, cookie: id)
    } catch {
      guard let placed else { throw error }
      return Response(status: 201, order: placed)
    }
  }
  // end

  // listing
  func withCart<R>(
    _ cookie: String?, _ sessions: Sessions<SessionState>, _ orders: Orders, _ body: (Cart) throws -> R
  ) async throws -> (R, SessionCookie) {
    while true {
      let answer = try await sessions.withSession(cookie: cookie) { session -> R? in
        let cart = try session.environment.getBean(Cart.self)
        if let id = cart.order, let order = try await orders.find(id) {
          cart.settle(order)
          return nil
        }
        return try body(cart)
      }
      if let value = answer.value { return (value, answer.cookie) }
    }
  }
  // end
}

// listing
import BeansEventLoop
import BeansServer
import BeansSessions

// end

extension SessionsArticle {
  // continued
  func declareSessions(in shop: Environment, on loop: EventLoop, _ metrics: Metrics) throws -> Sessions<Void> {
    try shop.define(Cart.self, factory: Cart.init) { $0.scope("session") }
    let factory = try shop.childFactory(
      "session", seed: Void.self, scope: { SessionScope(loop: loop, idleTimeout: .seconds(1_800)) })
    return Sessions(factory, capacity: 100_000) { event in
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
    of sessions: EnvironmentFactory<Void>, in shop: Environment, currentLoop: @escaping @Sendable () -> EventLoop
  ) throws -> EnvironmentFactory<Request> {
    try shop.define(Handler.self, factory: Handler.init) { $0.scope("request") }
    return try sessions.childFactory(
      "request", seed: Request.self, scope: { RequestScope(loop: currentLoop(), deadline: .seconds(30)) })
  }
  // end
}
