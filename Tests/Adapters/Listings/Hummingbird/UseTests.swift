// Compiled with the tests.
@testable import HummingbirdListings

// listing
import BeansTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@Test func aCookieContinuesItsCart() async throws {
  var router = Router()
  try await withTestEnvironment({ router = try declareRoutes(in: $0) }) { _ in
    try await Application(router: router).test(.router) { client in
      let first = try await client.execute(uri: "/cart/tea", method: .post)
      let cookie = try #require(first.headers[.setCookie]).prefix { $0 != ";" }
      let second = try await client.execute(uri: "/cart/milk", method: .post, headers: [.cookie: String(cookie)])
      #expect(String(buffer: first.body) == "1")
      #expect(String(buffer: second.body) == "2")
    }
  }
}
// end
