// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans
import BeansSessions

// end

struct TwoStores {
  struct Order: Equatable, Sendable {
    let id: String
    /// Quantities by product.
    let goods: [Int: Int]
  }

  enum ShopError: Error { case emptyCart }

  struct Response: Sendable {
    let status: Int
    let order: Order
    var cookie: String?
  }

  /// A database, as far as a checkout knows it.
  final class Orders: Sendable {
    private let rows = Mutex<[String: Order]>([:])

    /// Commits an order, unless there is one of that id.
    func place(_ order: Order) async throws -> Order {
      rows.withLock { rows in
        let placed = rows[order.id] ?? order
        rows[order.id] = placed
        return placed
      }
    }

    func find(_ id: String) async throws -> Order? { rows.withLock { $0[id] } }

    var count: Int { rows.withLock { $0.count } }
  }

  func newId() -> String { "\(UInt64.random(in: .min ... .max))" }
}

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
