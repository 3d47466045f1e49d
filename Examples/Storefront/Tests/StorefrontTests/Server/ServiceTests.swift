import Beans
import BeansTesting
import Glibc
import Testing

@testable import Storefront

/// The whole service over real sockets.
@Suite(.serialized, .timeLimit(.minutes(20)), .beans(TestShop.served(loops: 2)))
struct ServiceTests {
  private let server: TestServer

  init() throws { server = try TestServer(Test.environment) }

  private func sid(_ response: TestClient.Response) throws -> String {
    let cookie = try #require(response.fields["set-cookie"])
    #expect(cookie.contains("; HttpOnly"))
    #expect(cookie.contains("; SameSite=Lax"))
    return try String(#require(cookie.firstMatch(of: /^sid=([0-9a-f]{32});/)).1)
  }

  private func post(_ client: TestClient, _ path: String, _ body: String, _ fields: String = "") throws {
    try client.send(
      "POST \(path) HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n\(fields)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  @Test func aVisitorShops() throws {
    let client = try server.client()
    try client.get("/", "Accept: text/html\r\n")
    let page = try client.receive()
    #expect(page.status == 200)
    #expect(page.fields["content-type"] == "text/html; charset=utf-8")
    #expect(page.fields["set-cookie"] == nil)

    try post(client, "/api/cart", "product=2", "Accept: text/html\r\n")
    let cookie = "Cookie: sid=\(try sid(client.receive()))\r\n"
    try post(client, "/api/cart", "product=2", cookie + "Accept: text/html\r\n")
    let added = try client.receive()
    #expect(added.status == 303)
    #expect(added.fields["location"] == "/")
    #expect(added.fields["set-cookie"] == nil)

    // Another connection, perhaps on the other loop: the same cart.
    let other = try server.client()
    try other.get("/api/cart", cookie)
    #expect(try JSONValue(other.receive().body)["total_cents"]?.integer == 2380)
    try post(other, "/api/checkout", "", cookie)
    let order = try other.receive()
    #expect(order.status == 201)
    #expect(server.sales == "orders placed: 1, 23.80 €")

    // From the checkout on the visitor has another id.
    let next = "Cookie: sid=\(try sid(order))\r\n"
    #expect(next != cookie)
    try client.get("/api/orders", next)
    #expect(try JSONValue(client.receive().body) == .array([JSONValue(order.body)]))
    try client.get("/", next)
    #expect(try client.receive().text.contains("2 × House Espresso"))
    // Another visitor sees nothing of it.
    try client.get("/api/orders")
    #expect(try client.receive().text == "[]")
    try server.end()
  }

  /// The policy allows the content of the page, and no more.
  @Test func thePageKeepsItsOwnPolicy() throws {
    let client = try server.client()
    try client.get("/", "Accept: text/html\r\n")
    let page = try client.receive()
    let policy = try #require(page.fields["content-security-policy"])
    let nonce = try String(#require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]+)'/)).1)
    #expect(
      policy == "default-src 'none'; img-src data:; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
    let marked = page.text.matches(of: /<(?:style|script)([^>]*)>/)
    #expect(marked.count >= 2)
    for tag in marked { #expect(tag.1.contains("nonce=\"\(nonce)\"") || tag.1.contains("nonce=\(nonce)")) }
    // The icon is an image.
    let icons = page.text.matches(of: /<link[^>]*href="([^"]*)"/)
    #expect(!icons.isEmpty)
    for icon in icons { #expect(icon.1.hasPrefix("data:")) }
    #expect(page.text.firstMatch(of: /<[a-z][^>]*\s(?:style|on[a-z]+)=/) == nil)
    // Another request has another one.
    try client.get("/", "Accept: text/html\r\n")
    #expect(try client.receive().fields["content-security-policy"]?.contains(nonce) == false)
    try server.end()
  }

  @Test func everyRouteIsServed() throws {
    let client = try server.client()
    for (path, status) in [
      ("/", 200), ("/api/products", 200), ("/api/cart", 200), ("/api/orders", 200), ("/healthz", 200),
      ("/environments", 404), ("/nothing", 404), ("/api/checkout", 405),
    ] {
      try client.get(path)
      let response = try client.receive()
      #expect(response.status == status, "\(path)")
      if status == 405 { #expect(response.fields["allow"] == "POST") }
    }
    #expect(try server.end().answered == 8)
  }

  @Test func probesAreTheOnlyPublicReports() throws {
    let client = try server.client()
    try client.waitUntilReady()
    for path in ["/livez", "/readyz"] {
      try client.get(path)
      let response = try client.receive()
      #expect(response.status == 200, "\(path)")
      #expect(response.text == "{\"status\":\"UP\"}")
      #expect(response.fields["cache-control"] == "no-store")
    }
    for path in AdministrationTests.paths {
      try client.get(path)
      #expect(try client.receive().status == 404, "\(path)")
    }
    try server.end()
  }

  @Test func aRefusedCheckoutKeepsCartAndStock() throws {
    let client = try server.client()
    try post(client, "/api/cart", "product=10&quantity=13")
    let cookie = "Cookie: sid=\(try sid(client.receive()))\r\n"
    try post(client, "/api/checkout", "", cookie)
    let refused = try client.receive()
    #expect(refused.status == 409)
    #expect(refused.fields["set-cookie"] == nil)
    try client.get("/api/cart", cookie)
    #expect(try JSONValue(client.receive().body)["pieces"]?.integer == 13)
    try client.get("/api/products")
    #expect(try client.receive().text.contains("\"stock\":12"))
    try server.end()
  }

  @Test(.beans(TestShop.served(["BEANS_PROFILES": "test"]))) func aDatabaseForTestsIsGoneAfterwards() throws {
    let path = try Test.environment.getBean(TemporaryDatabase.self).path
    let client = try server.client()
    try client.get("/api/products")
    #expect(try client.receive().status == 200)
    #expect(access("\(path).test", F_OK) == 0)
    try server.end()
    #expect(access("\(path).test", F_OK) != 0)
    #expect(access(path, F_OK) != 0)
  }

  @Test func productsByHandAreNotServed() throws {
    let client = try server.client()
    try client.get("/by-hand/api/products")
    #expect(try client.receive().status == 404)
    try server.end()
  }

  @Test(.beans(TestShop.served(["BY_HAND": "yes"]))) func productsByHandAreServedOnRequest() throws {
    let client = try server.client()
    try client.get("/api/products")
    let byContainer = try client.receive()
    try client.get("/by-hand/api/products")
    let byHand = try client.receive()
    #expect(byHand.status == 200)
    #expect(byHand.body == byContainer.body)
    #expect(byHand.fields["content-type"] == byContainer.fields["content-type"])
    try post(client, "/by-hand/api/products", "x=1")
    #expect(try client.receive().status == 405)
    try server.end()
  }
}
