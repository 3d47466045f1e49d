import Beans
import BeansServer
import BeansSessions
import BeansTesting
import Testing

@testable import Storefront

/// The clients that get a session of the shop, and the requests of other sites.
@Suite(.serialized, .timeLimit(.minutes(20)), .beans(TestShop.served()))
struct SessionTests {
  private let server: TestServer

  init() throws { server = try TestServer(Test.environment) }

  private func request(_ method: String, _ path: String, body: String = "", fields: [String] = []) -> String {
    let fields = fields.map { $0 + "\r\n" }.joined()
    return
      "\(method) \(path) HTTP/1.1\r\nHost: shop.test\r\nContent-Type: application/x-www-form-urlencoded\r\n\(fields)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// Adds a product as a new visitor; returns the `Cookie` field.
  private func visit(_ client: TestClient) throws -> String {
    try client.send(request("POST", "/api/cart", body: "product=2"))
    let response = try client.receive()
    let cookie = try #require(response.fields["set-cookie"], "\(response.status)")
    return "Cookie: \(cookie.prefix { $0 != ";" })"
  }

  @Test(arguments: [
    ("GET", "/", ""), ("HEAD", "/", ""), ("GET", "/api/cart", ""), ("GET", "/api/orders", ""),
    ("POST", "/api/cart", "product=99"), ("POST", "/api/cart", "product=2&quantity=0"), ("POST", "/api/cart", "x"),
    ("POST", "/api/cart", "product=2&action=remove"), ("POST", "/api/checkout", ""), ("DELETE", "/api/cart", ""),
    ("DELETE", "/api/cart?product=2", ""),
  ])
  func aVisitorGetsNoSessionWithoutAChange(_ method: String, _ path: String, _ body: String) throws {
    let client = try server.client()
    try client.send(request(method, path, body: body))
    let response = try client.receive(isHead: method == "HEAD")
    #expect(response.fields["set-cookie"] == nil)
    #expect(server.sessions == 0)
    try client.send(request(method, path, body: body, fields: ["Cookie: sid=0123456789abcdef0123456789abcdef"]))
    #expect(try client.receive(isHead: method == "HEAD").fields["set-cookie"] == nil)
    #expect(server.sessions == 0)
    try server.end()
  }

  @Test func theFirstChangeOpensASession() throws {
    let client = try server.client()
    let cookie = try visit(client)
    #expect(server.sessions == 1)
    try client.send(request("GET", "/api/cart", fields: [cookie]))
    let cart = try client.receive()
    #expect(cart.text.contains("House Espresso"))
    #expect(cart.fields["set-cookie"] == nil)
    #expect(server.sessions == 1)
    try server.end()
  }

  @Test(.beans(TestShop.served(["SESSIONS": "2"]))) func theLeastRecentlyUsedSessionIsEvictedBeyondTheLimit() throws {
    let client = try server.client()
    let cookies = try [visit(client), visit(client)]
    try client.send(request("GET", "/api/cart", fields: [cookies[0]]))
    #expect(try client.receive().text.contains("\"pieces\":1"))
    let third = try visit(client)
    for (cookie, pieces) in [(cookies[0], 1), (cookies[1], 0), (third, 1)] {
      try client.send(request("GET", "/api/cart", fields: [cookie]))
      #expect(try client.receive().text.contains("\"pieces\":\(pieces)"))
    }
    #expect(server.shop?.sessions.statistics().open == 2)
    #expect(server.shop?.sessions.statistics().evicted == 1)
    try server.end()
  }

  @Test(.beans(TestShop.served(["SESSIONS": "1"]))) func aVisitorIsAskedToComeBackWhenAllSessionsAreInUse() throws {
    let client = try server.client()
    let cookie = try visit(client)
    let sessions = try #require(server.shop?.sessions)
    try sessions.withSession(String(cookie.dropFirst("Cookie: sid=".count))) { _ throws in
      for _ in 0..<3 {
        try client.send(request("POST", "/api/cart", body: "product=2"))
        let refused = try client.receive()
        #expect(refused.status == 503)
        #expect(refused.fields["set-cookie"] == nil)
        #expect(refused.fields["retry-after"].flatMap { Int($0) } ?? 0 > 0)
      }
      // No other request asks for it.
      try client.send(request("POST", "/api/cart", body: "product=3", fields: [cookie]))
      #expect(try client.receive().text.contains("\"pieces\":2"))
      try client.get("/")
      #expect(try client.receive().status == 200)
    }
    _ = try visit(client)
    #expect(sessions.statistics().evicted == 1)
    try server.end()
  }

  @Test(arguments: ["", "Accept: text/html"])
  func aCheckoutChangesTheIdOfTheSession(_ accept: String) throws {
    let client = try server.client()
    let cookie = try visit(client)
    let fields = [cookie] + (accept.isEmpty ? [] : [accept])
    try client.send(request("POST", "/api/checkout", fields: fields))
    let response = try client.receive()
    #expect(response.status == (accept.isEmpty ? 201 : 303))
    let field = try #require(response.fields["set-cookie"])
    let next = "Cookie: \(field.prefix { $0 != ";" })"
    #expect(next != cookie)
    // A client with the old id is a stranger: it sees no order, and gets a session of its own.
    try client.send(request("GET", "/api/orders", fields: [cookie]))
    #expect(try client.receive().text == "[]")
    try client.send(request("POST", "/api/cart", body: "product=2", fields: [cookie]))
    let stranger = try #require(try client.receive().fields["set-cookie"])
    #expect(!stranger.hasPrefix(cookie.dropFirst("Cookie: ".count)) && !stranger.hasPrefix(field.prefix { $0 != ";" }))
    try client.send(request("GET", "/api/orders", fields: [next]))
    #expect(try client.receive().text.contains("House Espresso"))
    // A request that changes nothing leaves the id.
    try client.send(request("POST", "/api/checkout", fields: [next]))
    let refused = try client.receive()
    #expect(refused.status == 409)
    #expect(refused.fields["set-cookie"] == nil)
    #expect(server.shop?.sessions.statistics().rotated == 1)
    try server.end()
  }

  /// An unknown id may have been planted: a service that adopts it shares the session with the attacker.
  @Test func anUnknownIdIsNeverAdopted() throws {
    let client = try server.client()
    let planted = "0123456789abcdef0123456789abcdef"
    try client.send(request("POST", "/api/cart", body: "product=2", fields: ["Cookie: sid=\(planted)"]))
    let field = try #require(try client.receive().fields["set-cookie"])
    #expect(field.wholeMatch(of: /sid=[0-9a-f]{32};.*/) != nil)
    #expect(!field.contains(planted))
    #expect(server.shop?.sessions.find(planted) == nil)
    try client.send(request("GET", "/api/cart", fields: ["Cookie: sid=\(planted)"]))
    #expect(try client.receive().text.contains("\"pieces\":0"))
    try server.end()
  }

  @Test(arguments: [
    (["Sec-Fetch-Site: cross-site"], false), (["Sec-Fetch-Site: same-site"], false),
    (["Sec-Fetch-Site: same-origin"], true), (["Sec-Fetch-Site: none"], true),
    (["Sec-Fetch-Site: cross-site", "Origin: http://shop.test"], false),
    (["Sec-Fetch-Site: same-origin", "Origin: https://shop.test"], true),
    (["Origin: http://evil.test"], false), (["Origin: null"], false), (["Origin: http://shop.test:81"], false),
    (["Origin: http://shop.test.evil.test"], false), (["Origin: "], false),
    (["Origin: http://shop.test"], true), (["Origin: https://SHOP.test"], true), ([], true),
  ])
  func onlyPagesOfTheShopMayChangeASession(_ fields: [String], _ isAllowed: Bool) throws {
    let client = try server.client()
    let cookie = try visit(client)
    for (method, path, body) in [
      ("POST", "/api/cart", "product=3"), ("DELETE", "/api/cart", ""), ("POST", "/api/checkout", ""),
    ] {
      for visitor in [[cookie], []] {
        try client.send(request(method, path, body: body, fields: fields + visitor))
        let response = try client.receive()
        #expect((response.status == 403) == !isAllowed, "\(method) \(path): \(response.status)")
        if !isAllowed { #expect(response.fields["set-cookie"] == nil) }
      }
    }
    if !isAllowed {
      #expect(server.sessions == 1)
      try client.send(request("GET", "/api/cart", fields: fields + [cookie]))
      #expect(try client.receive().text.contains("\"pieces\":1"))
    }
    try server.end()
  }

  /// RFC 9112 §3.2.2: a page of the host in the target has sent the request; the `Host` field does not matter.
  @Test(arguments: [
    ("http://shop.test", "shop.test", "http://shop.test", true),
    ("http://shop.test", "evil.test", "http://shop.test", true),
    ("http://SHOP.test:81", "evil.test", "http://shop.test:81", true),
    ("http://shop.test", "evil.test", "http://evil.test", false),
    ("http://shop.test", "shop.test:81", "http://shop.test:81", false),
    ("", "evil.test", "http://shop.test", false),
  ])
  func theAuthorityOfTheTargetIsTheSiteOfTheRequest(
    _ site: String, _ host: String, _ origin: String, _ isAllowed: Bool
  ) throws {
    let client = try server.client()
    let body = "product=3"
    try client.send(
      "POST \(site)/api/cart HTTP/1.1\r\nHost: \(host)\r\nOrigin: \(origin)\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect((try client.receive().status == 403) == !isAllowed)
    try server.end()
  }

  /// Browsers send cookies for longer paths first, which a page of a neighbouring host may have set.
  @Test func theLastOfSeveralCookiesCounts() throws {
    let client = try server.client()
    let (mine, other) = (try visit(client), try visit(client))
    try client.send(request("POST", "/api/cart", body: "product=3", fields: [mine]))
    _ = try client.receive()
    let both = other + "; " + mine.dropFirst("Cookie: ".count)
    for fields in [[both], [other, mine]] {
      try client.send(request("GET", "/api/cart", fields: fields))
      #expect(try client.receive().text.contains("\"pieces\":2"), "\(fields)")
    }
    try server.end()
  }

  @Test(.beans(TestShop.served(["SECURE_COOKIES": "yes"]))) func behindTLSTheCookieBelongsToThisHostAlone() throws {
    let client = try server.client()
    try client.send(request("POST", "/api/cart", body: "product=2"))
    let field = try #require(try client.receive().fields["set-cookie"])
    #expect(field.hasPrefix("__Host-sid="))
    #expect(field.contains("; Secure") && field.contains("; Path=/;") && !field.contains("Domain"))
    let sid = field.prefix { $0 != ";" }
    try client.send(request("GET", "/api/cart", fields: ["Cookie: \(sid)"]))
    #expect(try client.receive().text.contains("\"pieces\":1"))
    // Without the prefix another site may have set it.
    try client.send(request("GET", "/api/cart", fields: ["Cookie: \(sid.dropFirst("__Host-".count))"]))
    #expect(try client.receive().text.contains("\"pieces\":0"))
    try server.end()
  }

  @Test func strangersDoNotSeeLiveSessions() throws {
    let client = try server.client()
    try client.get("/environments")
    #expect(try client.receive().status == 404)
    try client.get("/")
    let page = try client.receive()
    #expect(!page.text.contains("/environments"))
    try server.end()
  }
}
