import Glibc
import Testing

@testable import Storefront

/// The whole service over real sockets.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ServiceTests {
  private let database: TemporaryDatabase
  private let server: TestServer

  init() async throws {
    database = try TemporaryDatabase()
    server = try await TestServer(loops: 2, shop: try database.configuration)
  }

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
    // Somebody else sees nothing of it.
    try client.get("/api/orders")
    #expect(try client.receive().text == "[]")
    try server.end()
  }

  /// What the page holds is what its policy allows, and the policy allows no more.
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

  @Test func answersEveryRoute() throws {
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

  @Test func thoseWhoRunTheServiceSeeCountsAndSomeOfWhatIsAlive() async throws {
    let shop = try await TestServer(loops: 1, shop: database.configuration, isForAdministration: true)
    let client = try shop.client()
    try client.get("/environments")
    let text = try client.receive().text
    #expect(text.contains("application: 1 live, "))
    #expect(text.contains("request: 1 live, "))
    #expect(text.contains("application: open, "))
    #expect(text.hasPrefix("orders placed: 0, 0.00 €\n"))
    #expect(text.contains("sessions: 0 open of at most 100000, 0 in use; opened 0, "))
    try client.get("/healthz")
    #expect(try client.receive().status == 200)
    try client.get("/api/products")
    #expect(try client.receive().status == 404)
    try shop.end()
    try server.end()
  }

  /// The store's check answers by itself.
  private func waitUntilReady(_ client: TestClient) throws {
    repeat { try client.get("/readyz") } while try client.receive().status == 503
  }

  /// The probes to everybody, all else only to those who run the service.
  @Test func operationsAreMountedWhereTheyBelong() async throws {
    let client = try server.client()
    try waitUntilReady(client)
    for path in ["/livez", "/readyz"] {
      try client.get(path)
      let response = try client.receive()
      #expect(response.status == 200, "\(path)")
      #expect(response.text == "{\"status\":\"UP\"}")
      #expect(response.fields["cache-control"] == "no-store")
    }
    let paths = ["/health", "/sessions", "/beans", "/startup", "/loggers", "/configuration", "/metrics"]
    for path in paths {
      try client.get(path)
      #expect(try client.receive().status == 404, "\(path)")
    }
    try server.end()

    let shop = try await TestServer(loops: 1, shop: database.configuration, isForAdministration: true)
    let operators = try shop.client()
    try waitUntilReady(operators)
    for path in paths + ["/livez"] {
      try operators.get(path)
      #expect(try operators.receive().status == 200, "\(path)")
    }
    try operators.get("/environments", "Accept: application/json\r\n")
    let scopes = try JSONValue(operators.receive().body)["scopes"]
    #expect("\(scopes as Any)".contains("application"))
    try operators.get("/metrics", "Accept: application/openmetrics-text\r\n")
    let metrics = try operators.receive()
    #expect(metrics.fields["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(metrics.text.contains("\nbeans_health_check_up{check=\"store\"} 1\n"))
    try operators.get("/", "Accept: text/html\r\n")
    let page = try operators.receive()
    #expect(page.fields["content-type"] == "text/html; charset=utf-8")
    #expect(page.fields["content-security-policy"]?.hasPrefix("default-src 'none'; ") == true)
    #expect(page.text.contains("\"Catalogue\""))
    try operators.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try operators.receive(isHead: true).status == 200)
    // Levels may only be read here, and not even asked for by pages of other sites.
    let body = "Content-Length: 2\r\n\r\n{}"
    try operators.send("POST /loggers/ROOT HTTP/1.1\r\nHost: localhost\r\n\(body)")
    #expect(try operators.receive().status == 403)
    try operators.send("POST /loggers/ROOT HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\n\(body)")
    #expect(try operators.receive().status == 404)
    // A page whose name has become that of this machine would otherwise read all of it.
    for host in ["shop.example", "shop.example:8081", "127.0.0.1.shop.example", "localhost.shop.example"] {
      try operators.send("GET /configuration HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try operators.receive().status == 421, "\(host)")
    }
    for host in ["localhost:8081", "127.0.0.1", "127.0.0.1:8081", "[::1]:8081", "LocalHost"] {
      try operators.send("GET /configuration HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try operators.receive().status == 200, "\(host)")
    }
    try shop.end()
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

  @Test func aDatabaseForTestsIsGoneAfterwards() async throws {
    try server.end()
    var configuration = try database.configuration
    configuration.database = "\(database.folder)/profile"
    configuration.profiles = "test"
    let shop = try await TestServer(loops: 1, shop: configuration)
    let client = try shop.client()
    try client.get("/api/products")
    #expect(try client.receive().status == 200)
    #expect(access("\(database.folder)/profile.test", F_OK) == 0)
    try shop.end()
    #expect(access("\(database.folder)/profile.test", F_OK) != 0)
    #expect(access("\(database.folder)/profile", F_OK) != 0)
  }

  @Test func productsByHandAreServedOnlyWhereAskedFor() async throws {
    let client = try server.client()
    try client.get("/by-hand/api/products")
    #expect(try client.receive().status == 404)
    try server.end()

    var configuration = try database.configuration
    configuration.byHand = true
    let asked = try await TestServer(loops: 1, shop: configuration)
    let other = try asked.client()
    try other.get("/api/products")
    let byContainer = try other.receive()
    try other.get("/by-hand/api/products")
    let byHand = try other.receive()
    #expect(byHand.status == 200)
    #expect(byHand.body == byContainer.body)
    #expect(byHand.fields["content-type"] == byContainer.fields["content-type"])
    try post(other, "/by-hand/api/products", "x=1")
    #expect(try other.receive().status == 405)
    try asked.end()
  }
}
