import Beans
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import SessionsListings

@Suite("Requests and sessions") struct SessionsTests {
  @Test("A visitor continues a basket with the cookie that the first change has set, and others have their own")
  func route() async throws {
    let shop = try Beans.Environment(name: "shop")
    let router = Router()
    try addRoutes(to: router, in: shop)
    let responder = router.buildResponder()
    func add(_ product: String, _ cookies: [String: String]) async throws -> (cookie: String?, text: String) {
      let response = try await responder.respond(
        to: Request(.post, "/basket/\(product)", cookies: cookies), context: BasicRequestContext())
      let body = Body()
      try await response.body.write(body)
      return (response.cookies["session"], body.text.withLock { $0 })
    }
    let first = try await add("tea", ["session": "planted"])
    let id = try #require(first.cookie)
    #expect(id != "planted" && first.text == "1")
    let second = try await add("milk", ["session": id])
    #expect(second.cookie == nil && second.text == "2")
    #expect(try await add("tea", [:]).text == "1")
    try await shop.shutdown()
  }

  /// The body of a response, as text.
  private final class Body: ResponseBodyWriter, Sendable {
    let text = Mutex("")

    func write(_ buffer: ByteBuffer) async throws { text.withLock { $0 += buffer.string } }
    func finish(_ trailingHeaders: [String: String]?) async throws {}
  }
}
