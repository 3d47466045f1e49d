import Beans
import BeansTesting
import Foundation
import Testing

@testable import Storefront

/// The operations endpoints, which are served to this machine alone, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(20)), .beans(TestShop.served()))
struct AdministrationTests {
  /// Paths that the public cannot reach.
  static let paths = ["/health", "/sessions", "/beans", "/startup", "/loggers", "/configuration", "/metrics"]

  private let server: TestServer

  init() throws { server = try TestServer(Test.environment, isForAdministration: true) }

  @Test func theReportShowsCountsAndSomeLiveSessions() throws {
    let client = try server.client()
    try client.get("/environments")
    let text = try client.receive().text
    #expect(text.contains("test: 1 live, "))
    #expect(text.contains("request: 1 live, "))
    #expect(text.contains("test: open, "))
    #expect(text.hasPrefix("orders placed: 0, 0.00 €\n"))
    #expect(text.contains("sessions: 0 open of at most 100000, 0 in use; opened 0, "))
    try client.get("/healthz")
    #expect(try client.receive().status == 200)
    try client.get("/api/products")
    #expect(try client.receive().status == 404)
    try server.end()
  }

  @Test func everyReportIsServed() throws {
    let client = try server.client()
    try client.waitUntilReady()
    for path in Self.paths + ["/livez"] {
      try client.get(path)
      #expect(try client.receive().status == 200, "\(path)")
    }
    try client.get("/environments", "Accept: application/json\r\n")
    let scopes = try JSONValue(client.receive().body)["scopes"]
    #expect("\(scopes as Any)".contains("\"test\""))
    try client.get("/metrics", "Accept: application/openmetrics-text\r\n")
    let metrics = try client.receive()
    #expect(metrics.fields["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(metrics.text.contains("\nbeans_health_check_up{check=\"store\"} 1\n"))
    try client.get("/", "Accept: text/html\r\n")
    let page = try client.receive()
    #expect(page.fields["content-type"] == "text/html; charset=utf-8")
    #expect(page.fields["content-security-policy"]?.hasPrefix("default-src 'none'; ") == true)
    #expect(page.text.contains("\"Catalogue\""))
    try client.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.receive(isHead: true).status == 200)
    try server.end()
  }

  @Test func theConfigurationIsThatOfTheShop() throws {
    let client = try server.client()
    try client.get("/configuration")
    let answer = try client.receive()
    let values =
      try #require(
        try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: [[String: Any]]])["values"] ?? []
    let sources = Dictionary(grouping: values, by: { $0["key"] as? String ?? "" }).mapValues { entries in
      entries.map { $0["source"] as? String ?? "none" }
    }
    #expect(sources["database"]?.first == "environment variables")
    for name in [
      "host", "port", "sessionIdle", "sessions", "storeWait", "secureCookies", "loops", "accessLog", "byHand",
    ] {
      #expect(sources[name]?.count == 1 && sources[name]?.first?.contains("Configuration.swift:") == true, "\(name)")
    }
    // The keys that the shop has read and no source has.
    for name in ["redis", "adminPort", "beans.profiles"] { #expect(sources[name] == ["none"], "\(name)") }
    #expect(!answer.text.contains("/tmp/storefront-tests"))
    try server.end()
  }

  @Test func levelsAreReadOnlyAndOutOfReachOfOtherSites() throws {
    let client = try server.client()
    let body = "Content-Length: 2\r\n\r\n{}"
    try client.send("POST /loggers/ROOT HTTP/1.1\r\nHost: localhost\r\n\(body)")
    #expect(try client.receive().status == 403)
    try client.send("POST /loggers/ROOT HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\n\(body)")
    #expect(try client.receive().status == 404)
    try server.end()
  }

  /// Otherwise a page whose name has become that of this machine could read all of it.
  @Test func onlyRequestsToThisMachineByItsOwnNameAreServed() throws {
    let client = try server.client()
    for host in ["shop.example", "shop.example:8081", "127.0.0.1.shop.example", "localhost.shop.example"] {
      try client.send("GET /configuration HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try client.receive().status == 421, "\(host)")
    }
    for host in ["localhost:8081", "127.0.0.1", "127.0.0.1:8081", "[::1]:8081", "LocalHost"] {
      try client.send("GET /configuration HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try client.receive().status == 200, "\(host)")
    }
    try server.end()
  }

  /// RFC 9112 §3.2.2: the authority of an absolute target counts, and the `Host` field does not.
  @Test(arguments: [
    ("http://evil.test/sessions", "localhost", 421), ("http://evil.test:80/sessions", "127.0.0.1", 421),
    ("HTTP://EVIL.test/sessions", "localhost", 421), ("https://127.0.0.1.evil.test/sessions", "127.0.0.1", 421),
    ("http://evil.test?x=/localhost", "localhost", 421), ("http://localhost.evil.test/", "localhost", 421),
    ("http://localhost/sessions", "evil.test", 200), ("http://127.0.0.1:8081/sessions", "evil.test", 200),
    ("http://[::1]:8081/sessions", "evil.test", 200), ("http://LocalHost/sessions", "evil.test", 200),
    ("/sessions", "localhost", 200), ("/sessions", "evil.test", 421),
    ("/sessions?x=http://localhost/", "evil.test", 421),
  ])
  func theAuthorityOfTheTargetDecides(target: String, host: String, status: Int) throws {
    let client = try server.client()
    for version in ["HTTP/1.1", "HTTP/1.0"] {
      try client.send("GET \(target) \(version)\r\nHost: \(host)\r\nConnection: keep-alive\r\n\r\n")
      #expect(try client.receive().status == status)
    }
    // An old client need not send a Host field.
    if target.lowercased().contains("evil") {
      try client.send("GET \(target) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(try client.receive().status == 421)
    }
    try server.end()
  }
}
