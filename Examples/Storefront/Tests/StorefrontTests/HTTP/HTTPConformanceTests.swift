import Glibc
import Testing

@testable import Storefront

/// The rules of RFC 9110, RFC 9112 and RFC 3986 for messages, over real sockets: messages that a server may take, and
/// others.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct HTTPConformanceTests {
  /// A message, its response, and the state of its connection afterwards.
  struct Row: Sendable, CustomTestStringConvertible {
    /// The RFC and its section.
    let section: String
    /// Each scalar is one byte.
    let message: String
    let status: Int
    /// True if the connection takes another request; nil if either is right.
    let stays: Bool?

    init(_ section: String, _ message: String, _ status: Int, stays: Bool? = nil) {
      self.section = section
      self.message = message
      self.status = status
      self.stays = stays
    }

    /// A refusal, after which the server closes: it does not know where another message would begin.
    static func refused(_ section: String, _ message: String) -> Row { Row(section, message, 400, stays: false) }

    var bytes: [UInt8] { message.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

    var testDescription: String { "\(section): \(message.debugDescription) → \(status)" }
  }

  // MARK: the table

  /// A request with one further field.
  private static func get(_ field: String, _ version: String = "HTTP/1.1") -> String {
    "GET /healthz \(version)\r\nHost: shop\r\n\(field)\r\n\r\n"
  }

  private static func chunked(_ body: String) -> String {
    "POST /api/cart HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
  }

  private static let hosts = ["a b", "a/b", "u@a", "a:b", "a, b", "\u{ff}\u{fe}"].map {
    Row.refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: \($0)\r\n\r\n")
  }

  /// A control character as the first byte of a value: each but HTAB, which is white space, and CR and LF, which end lines.
  private static let controls = (Array(0..<0x20) + [0x7F]).filter { ![9, 10, 13].contains($0) }.map { (code: UInt8) in
    Row.refused("9110 §5.5", get("X: \(Unicode.Scalar(code))b"))
  }

  private static let chunkExtensions = [
    Row.refused("9112 §7.1.1", chunked("d;a\0b\r\n0123456789abc\r\n0\r\n\r\n")),
    .refused("9112 §7.1.1", chunked("d;a=\u{1}b\r\n0123456789abc\r\n0\r\n\r\n")),
  ]

  private static let targets = [
    Row.refused("9110 §4.2.1", "GET http://:80/healthz HTTP/1.1\r\nHost: shop\r\n\r\n"),
    .refused("3986 §3.2.3", "GET http://x:99999999/ HTTP/1.1\r\nHost: shop\r\n\r\n"),
  ]

  private static let others = [
    Row("9112 §9.3", get("Connection: keep-alive, close", "HTTP/1.0"), 200, stays: false),
    Row(
      "9112 §5.1", "POST /api/cart HTTP/1.1\r\nHost: shop\r\nContent-Length: 13\t\r\n\r\n0123456789abc", 200,
      stays: true),
    Row("9110 §9.1", "UNKNOWN /healthz HTTP/1.1\r\nHost: shop\r\n\r\n", 501),
    Row("9110 §9.3.7", "OPTIONS * HTTP/1.1\r\nHost: shop\r\n\r\n", 204, stays: true),
    .refused("9112 §2.3", "SOURCE / ICE/1.0\r\nHost: shop\r\n\r\n"),
    Row("3986 §2.2", "GET /api%2Fproducts HTTP/1.1\r\nHost: shop\r\n\r\n", 404, stays: true),
    Row("9112 §C.2.2", get("Proxy-Connection: close"), 200, stays: true),
  ]

  static let strict = hosts + controls + chunkExtensions + targets + others

  /// Close to a row above.
  static let variants: [Row] = [
    .refused("9110 §5.5", "GET /healthz HTTP/1.1\r\nHost: \0x\r\n\r\n"),
    .refused("9110 §5.5", get("Connection: \0close")),
    .refused("9110 §5.5", get("X:\u{b}b")),
    .refused("9112 §3.2", "GET /healthz HTTP/1.0\r\nHost: a b\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: a:65536\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: a%zz\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: [::1\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: [::1]x\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: [1:2]\r\n\r\n"),
    .refused("9110 §4.2.4", "GET http://user@shop/healthz HTTP/1.1\r\nHost: shop\r\n\r\n"),
    .refused("9112 §7.1.1", chunked("0;a\u{7f}b\r\n\r\n")),
    Row("9112 §9.3", get("Connection: close\t,keep-alive", "HTTP/1.0"), 200, stays: false),
    Row("9112 §9.3", get("Connection: keep-alive\r\nConnection: x, CLOSE"), 200, stays: false),
    Row("9112 §C.2.2", get("Proxy-Connection: keep-alive", "HTTP/1.0"), 200, stays: false),
    Row("9112 §5.1", "POST /api/cart HTTP/1.1\r\nHost: shop\r\nContent-Length:\t3 \t \r\n\r\nabc", 200, stays: true),
    .refused("9112 §3", "GET /healthz HTTP/1.1\t\r\nHost: shop\r\n\r\n"),
    Row("9110 §9.1", "get /healthz HTTP/1.1\r\nHost: shop\r\n\r\n", 501),
    .refused("9112 §3", "UNKNOWN /healthz\r\nHost: shop\r\n\r\n"),
    .refused("9110 §9.1", "UNKN(WN /healthz HTTP/1.1\r\nHost: shop\r\n\r\n"),
    Row("3986 §2.2", "GET http://shop/api%2fproducts HTTP/1.1\r\nHost: shop\r\n\r\n", 404, stays: true),
    .refused("9110 §8.6", get("Content-Length: 9223372036854775808")),
    .refused("9110 §8.6", get("Content-Length: 18446744073709551604")),
    .refused("9110 §8.6", get("Content-Length: 18446744073709551615")),
    Row("9110 §15.5.14", get("Content-Length: 9223372036854775807"), 413, stays: false),
    .refused("9112 §7.1", chunked("8000000000000000\r\n")),
    Row("9112 §7.1", chunked("7ffffffffffffff\r\n"), 413, stays: false),
  ]

  /// Valid messages, which the strict rules above must not refuse.
  static let lenient: [Row] = [
    Row("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: shop.example:8080\r\n\r\n", 200, stays: true),
    Row("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200, stays: true),
    Row("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: a_b-c~d%20!\r\n\r\n", 200, stays: true),
    Row("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: shop:\r\n\r\n", 200, stays: true),
    Row("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 200, stays: true),
    Row("9112 §3.2", "GET /healthz HTTP/1.0\r\n\r\n", 200, stays: false),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\n\r\n"),
    .refused("9112 §3.2", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    Row("9110 §5.5", get("X: \tb\u{e9}\tc\t"), 200, stays: true),
    .refused("9110 §5.5", get("X: a\0b")),
    .refused("9112 §5.1", get("X : b")),
    .refused("9112 §5.2", get("X: a\r\n b")),
    .refused("9112 §2.2", get("X: a\nY: b")),
    .refused("9112 §2.2", get("X: a\rY: b")),
    Row("9112 §2.2", "\r\n\r\n" + get("X: b"), 200, stays: true),
    .refused("9112 §6.1", chunked("0\r\n\r\n").replacing("chunked", with: "chunked\r\nContent-Length: 5")),
    .refused("9112 §6.1", chunked("0\r\n\r\n").replacing("chunked", with: "gzip, chunked")),
    .refused("9112 §6.1", chunked("0\r\n\r\n").replacing("HTTP/1.1", with: "HTTP/1.0")),
    .refused("9112 §6.3", get("Content-Length: 1\r\nContent-Length: 1")),
    .refused("9112 §6.3", get("Content-Length: 1, 1")),
    .refused("9112 §6.3", get("Content-Length: -1")),
    .refused("9112 §6.3", get("Content-Length: 0x1")),
    .refused("9112 §6.3", get("Content-Length: 1 1")),
    .refused("9112 §6.3", get("Content-Length:")),
    .refused("9112 §6.3", get("Content-Length: 99999999999999999999")),
    Row("9112 §7.1.1", chunked("d;a=\"b c\";d\r\n0123456789abc\r\n0\r\n\r\n"), 200, stays: true),
    .refused("9112 §7.1", chunked("ffffffffffffffff1\r\n")),
    .refused("9112 §7.1", chunked("3\r\nabcd\r\n0\r\n\r\n")),
    Row("9112 §3.2.2", "GET http://shop:80/healthz HTTP/1.1\r\nHost: shop\r\n\r\n", 200, stays: true),
    .refused("9112 §3.2.4", "GET * HTTP/1.1\r\nHost: shop\r\n\r\n"),
    Row("9112 §9.3", get("Connection: keep-alive"), 200, stays: true),
    Row("9112 §9.3", get("Connection: close"), 200, stays: false),
    Row("9112 §9.3", get("Connection: Keep-Alive", "HTTP/1.0"), 200, stays: true),
    Row("9110 §7.8", get("Connection: upgrade\r\nUpgrade: h2c"), 200, stays: true),
    Row("9110 §10.1.1", get("Expect: 200-ok"), 417, stays: false),
    Row("9110 §15.5.6", "PUT /healthz HTTP/1.1\r\nHost: shop\r\n\r\n", 405, stays: true),
    Row("9110 §15.5.14", get("Content-Length: 99999999"), 413, stays: false),
    Row(
      "9110 §15.5.15", "GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: shop\r\n\r\n", 414, stays: false),
    Row("6585 §5", get("X: \(String(repeating: "a", count: 17_000))"), 431, stays: false),
    Row("9110 §15.6.6", "GET /healthz HTTP/2.0\r\nHost: shop\r\n\r\n", 505, stays: false),
    Row("3986 §2.3", "GET /%61pi/products HTTP/1.1\r\nHost: shop\r\n\r\n", 200, stays: true),
  ]

  @Test func theTableIsComplete() {
    #expect(Self.controls.count == 30)
    #expect(Self.strict.count == 47)
  }

  @Test(arguments: strict) func theServerKeepsToTheRule(row: Row) throws { try check(row) }

  @Test(arguments: variants) func theServerKeepsToTheRuleForOtherSpellings(row: Row) throws { try check(row) }

  @Test(arguments: lenient) func theServerAcceptsValidMessages(row: Row) throws { try check(row) }

  private func check(_ row: Row) throws {
    let server = try Self.server()
    let client = try server.client()
    try client.send(row.bytes)
    let response = try client.receive()
    #expect(response.status == row.status)
    if let stays = row.stays {
      #expect(response.closes == !stays)
      if !response.closes {
        try client.get("/healthz")
        #expect(try client.receive().status == 200)
      } else {
        try client.receiveEnd()
      }
    }
    try server.end()
  }

  /// A server with the shop's routes.
  private static func server(_ settings: HTTPServerSettings = .forTests) throws -> TestServer {
    try TestServer(settings) { exchange in
      let match = ShopRoute.router.match(exchange.request.method, exchange.request.path)
      do {
        exchange.respond(try Router.refusal(match) ?? .text(.ok, exchange.request.path))
      } catch {
        exchange.respond(HTTPResponse(failure: error))
      }
    }
  }

  // MARK: responses

  /// RFC 9110 §9.3.2: no response to HEAD has a body, nor does that to a refused one.
  @Test(arguments: [
    ("HEAD /healthz HTTP/1.1\r\n\r\n", 400), ("HEAD /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("HEAD /healthz HTTP/2.0\r\nHost: shop\r\n\r\n", 505),
    ("\r\nHEAD /healthz HTTP/1.1\r\nHost: shop\r\nContent-Length: 99999999\r\n\r\n", 413),
    ("HEAD /healthz HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
    ("HEAD /healthz HTTP/1.1\r\nHo", 408), ("HEAD /healthz HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\nab", 408),
  ])
  func aRefusedHeadHasNoBody(message: String, status: Int) throws {
    var settings = HTTPServerSettings.forTests
    if status == 408 { settings.requestTimeout = .milliseconds(30) }
    let server = try Self.server(settings)
    let client = try server.client()
    try client.send(message)
    let response = try client.receive(isHead: true)
    #expect(response.status == status)
    #expect(response.fields["content-length"] != "0")
    try client.receiveEnd()
    try server.end()
  }

  /// RFC 9112 §9.3 and §C.2.2: an old client expects the connection to stay open only if a field announces it.
  @Test(arguments: [
    ("HTTP/1.0", "Connection: keep-alive", "keep-alive"), ("HTTP/1.0", "X: y", "close"), ("HTTP/1.1", "X: y", nil),
  ])
  func anOldClientLearnsThatTheConnectionStays(version: String, field: String, expected: String?) throws {
    let server = try Self.server()
    let client = try server.client()
    try client.send(Self.get(field, version))
    #expect(try client.receive().fields["connection"] == expected)
    try server.end()
  }

  // MARK: patience

  /// RFC 9112 §9.5: a server may close an idle connection; empty lines are not requests.
  @Test func emptyLinesDoNotKeepAnIdleConnection() throws {
    var settings = HTTPServerSettings.forTests
    settings.keepAliveTimeout = .milliseconds(100)
    let server = try Self.server(settings)
    let client = try server.client()
    try client.get("/healthz")
    #expect(try client.receive().status == 200)
    let (clock, begin) = (ContinuousClock(), ContinuousClock.now)
    var half = "\r"
    while clock.now - begin < .seconds(5) {
      do { try client.send(half) } catch { break }
      half = half == "\r" ? "\n" : "\r"
      if client.hasInput(within: 5) { break }
    }
    #expect(clock.now - begin < .seconds(5))
    try server.end()
  }

  /// RFC 9112 §9.5: a client that takes little at a time gets no more time than one that takes nothing.
  @Test func aSlowReaderDoesNotHoldItsConnection() throws {
    var settings = HTTPServerSettings.forTests
    settings.writeTimeout = .milliseconds(200)
    // More than any client takes, because the system passes bytes on in lumps of a size that no test can rely on.
    settings.leastTaken = .max
    let server = try TestServer(settings) {
      $0.respond(HTTPResponse(.ok, body: [UInt8](repeating: 0, count: 16 << 20)))
    }
    let client = try TestClient(port: server.port, receiveBuffer: 8 * 1024)
    for _ in 0..<16 { try client.get("/") }
    let (clock, begin) = (ContinuousClock(), ContinuousClock.now)
    var taken = 0
    // Takes about 30 MB a second.
    while clock.now - begin < .seconds(5), taken < 192 << 20, case let count = client.skip(32 * 1024), count > 0 {
      taken += count
      usleep(1000)
    }
    #expect(clock.now - begin < .seconds(5))
    #expect(taken < 192 << 20)
    #expect(server.drain(within: .zero).aborted > 0)
    try server.end()
  }
}
