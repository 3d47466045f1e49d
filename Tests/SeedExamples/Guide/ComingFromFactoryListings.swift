// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans

// end

struct ComingFromFactory {
  protocol Network: Sendable { var host: String { get } }
  struct HTTPNetwork: Network { let host = "example.org" }

  final class Catalogue: Sendable {
    let network: any Network
    init(network: any Network) { self.network = network }
  }

  struct User: Sendable { let name: String }

  final class Cart: Sendable {
    let user: User
    init(user: User) { self.user = user }
  }
}

extension ComingFromFactory {
  // continued
  func findCatalogue() throws -> Catalogue {
    let shop = try Environment(name: "shop")
    try shop
      .define(shop.bean(HTTPNetwork.self, factory: HTTPNetwork.init))
      .define(shop.bean(Catalogue.self, factory: Catalogue.init))
    return try shop.getBean(Catalogue.self)
  }
  // end

  // listing
  func declareSessions(in shop: Environment) throws -> EnvironmentFactory<User> {
    try shop.childFactory("session", seed: User.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
  }

  func logIn(_ user: User, _ sessions: EnvironmentFactory<User>) throws -> Environment {
    try sessions.build(user)
  }

  func logOut(_ session: Environment) { session.finish() }
  // end
}
