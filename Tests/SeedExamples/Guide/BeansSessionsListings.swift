// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import Beans
import BeansSessions

// end

struct BeansSessionsCatalogue {
  // continued
  struct Line: Codable, Sendable {
    let product: String
    let quantity: Int
  }

  final class Cart: Sendable {
    private let lines: SessionValue<[Line]>

    init(state: SessionState) throws { lines = try state.value("cart", default: []) }

    func add(_ line: Line) -> Int {
      lines.update { lines in
        lines.append(line)
        return lines.count
      }
    }
  }

  func declareCarts(in shop: Environment) throws -> EnvironmentFactory<SessionState> {
    try shop.childFactory("session", seed: SessionState.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
  }

  func keepSessions(_ carts: EnvironmentFactory<SessionState>, in store: any SessionStore) -> Sessions<SessionState> {
    Sessions(carts, store: store)
  }

  func add(_ line: Line, _ cookie: String?, _ sessions: Sessions<SessionState>) async throws -> (Int, SessionCookie) {
    let answer = try await sessions.withSession(cookie: cookie) { session in
      try session.environment.getBean(Cart.self).add(line)
    }
    return (answer.value, answer.cookie)
  }
  // end

  // listing
  func keepSessions(
    of tenant: Environment, named name: String, _ carts: EnvironmentFactory<SessionState>, in store: any SessionStore
  ) -> Sessions<SessionState> {
    Sessions(carts, in: tenant, named: name, store: store)
  }
  // end
}
