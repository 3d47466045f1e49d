import Beans
import BeansSessions
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import HummingbirdListings
@testable import SessionsListings

@Suite("Requests and sessions") struct SessionsTests {
  @Test("A visitor continues a basket with the cookie that the first change has set, and others have their own")
  func route() async throws {
    let shop = try Beans.Environment(name: "shop")
    let router = Router()
    try addRoutes(to: router, in: shop)
    let server = Client(router)
    let first = try await server.post("/basket/tea", session: "planted")
    let id = try #require(first.cookie)
    #expect(id != "planted" && first.text == "1")
    let second = try await server.post("/basket/milk", session: id)
    #expect(second.cookie == nil && second.text == "2")
    #expect(try await server.post("/basket/tea").text == "1")
    try await shop.shutdown()
  }

  @Test("A route replaces the id of its session, and the old id is unknown")
  func rotation() async throws {
    let shop = try Beans.Environment(name: "shop")
    let router = Router()
    try addRoutes(to: router, in: shop)
    try router.on("login", .post, in: shop) { _, _ in
      SessionHandle.current?.rotate()
      return "welcome"
    }
    let server = Client(router)
    let old = try #require(try await server.post("/basket/tea").cookie)
    let new = try #require(try await server.post("/login", session: old).cookie)
    #expect(new != old)
    #expect(try await server.post("/basket/milk", session: new).text == "2")
    #expect(try await server.post("/basket/milk", session: old).text == "1")
    try await shop.shutdown()
  }

  @Test("A failed commit is the error of the route")
  func failedCommit() async throws {
    struct Refused: Error {}
    let shop = try Beans.Environment(name: "shop")
    let router = Router()
    try addRoutes(to: router, in: shop)
    try shop.define(Commit.self, factory: { Commit() }) { commit in
      commit.scope("request").onDestroy { _ in throw Refused() }
    }
    try router.on("order", .post, in: shop, Commit.self) { _, _, _ in "ordered" }
    let error = await #expect(throws: EnvironmentError.self) { try await Client(router).post("/order") }
    #expect(error?.cause(as: Refused.self) != nil)
    try await shop.shutdown()
  }

  private struct Commit: Sendable {}

  /// Sends requests to the routes of a router.
  private struct Client {
    private let responder: any HTTPResponder<BasicRequestContext>

    init(_ router: Router<BasicRequestContext>) { responder = router.buildResponder() }

    func post(_ path: String, session: String? = nil) async throws -> (cookie: String?, text: String) {
      let cookies = session.map { ["session": $0] } ?? [:]
      let response = try await responder.respond(
        to: Request(.post, path, cookies: cookies), context: BasicRequestContext())
      let body = Body()
      try await response.body.write(body)
      return (response.cookies["session"], body.text.withLock { $0 })
    }
  }

  /// The body of a response, as text.
  private final class Body: ResponseBodyWriter, Sendable {
    let text = Mutex("")

    func write(_ buffer: ByteBuffer) async throws { text.withLock { $0 += buffer.string } }
    func finish(_ trailingHeaders: [String: String]?) async throws {}
  }
}
