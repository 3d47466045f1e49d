import Testing

@testable import Storefront

@Suite struct HTTPRequestParserTests {
  // MARK: whole requests

  @Test func theParserReadsMethodPathQueryAndFields() throws {
    let request = try one("GET /a%20b?x=1&y HTTP/1.1\r\nHost: shop\r\nX-Thing:  some value \t\r\nEmpty:\r\n\r\n")
    #expect(request.method == .get)
    #expect(request.path == "/a b")
    #expect(request.query == "x=1&y")
    #expect(request.headers["x-thing"] == "some value")
    #expect(request.headers["EMPTY"] == "")
    #expect(request.headers["Missing"] == nil)
    #expect(request.keepAlive)
    #expect(request.body.isEmpty)
  }

  @Test func theParserReadsABodyOfGivenLength() throws {
    let request = try one("POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 5\r\n\r\nhello")
    #expect(request.method == .post)
    #expect(request.body == Array("hello".utf8))
  }

  @Test func theParserReadsAChunkedBodyAndDropsItsTrailers() throws {
    let request = try one(
      "POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "5;name=value\r\nhello\r\n00A\r\n, chunks!\n\r\n0\r\nX-Sum: 1\r\nHost: other\r\n\r\n")
    #expect(String(decoding: request.body, as: UTF8.self) == "hello, chunks!\n")
    #expect(request.headers["X-Sum"] == nil)
    #expect(request.headers.values("Host") == ["s"])
  }

  @Test(arguments: [
    ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
    ("HTTP/1.1", "Connection: foo, Close\r\n", false), ("HTTP/1.0", "", false),
    ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
  ])
  func keepAliveFollowsVersionAndField(version: String, field: String, expected: Bool) throws {
    #expect(try one("GET / \(version)\r\nHost: s\r\n\(field)\r\n").keepAlive == expected)
  }

  @Test func theParserReadsAnAbsoluteTarget() throws {
    let request = try one("GET http://shop.example:80/cart?a=b HTTP/1.1\r\nHost: s\r\n\r\n")
    #expect(request.path == "/cart")
    #expect(request.query == "a=b")
    #expect(try one("GET http://shop.example HTTP/1.1\r\nHost: s\r\n\r\n").path == "/")
    #expect(try one("GET http://shop.example?q HTTP/1.1\r\nHost: s\r\n\r\n").query == "q")
    #expect(try one("OPTIONS * HTTP/1.1\r\nHost: s\r\n\r\n").path == "*")
  }

  @Test func theParserIgnoresAnOfferToChangeTheProtocol() throws {
    let requests = try all(
      "POST /a HTTP/1.1\r\nHost: s\r\nUpgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\nhi"
        + "GET /b HTTP/1.1\r\nHost: s\r\n\r\n")
    #expect(requests.map(\.path) == ["/a", "/b"])
    #expect(requests.first?.body == Array("hi".utf8))
  }

  @Test func theParserIgnoresEmptyLinesBeforeARequest() throws {
    #expect(try all("\r\n\r\nGET /a HTTP/1.1\r\nHost: s\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: s\r\n\r\n").count == 2)
  }

  // MARK: fragments and pipelines

  /// Three pipelined requests of every framing.
  private static let pipeline =
    "POST /one HTTP/1.1\r\nHost: s\r\nContent-Length: 3\r\n\r\nabc"
    + "GET /two?q=%20 HTTP/1.1\r\nHost: s\r\nCookie: sid=1\r\n\r\n"
    + "POST /three HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nd\r\n\r\n2;x\r\nef\r\n0\r\nT: v\r\n\r\n"

  @Test func theParserReadsEveryRequestOfAPipeline() throws {
    try check(all(Self.pipeline))
  }

  @Test func theParserReturnsOneRequestAtATime() throws {
    let parser = HTTPRequestParser()
    parser.append(Array(Self.pipeline.utf8))
    #expect(try parser.next()?.path == "/one")
    #expect(parser.progress == .head)
    #expect(try parser.next()?.path == "/two")
    #expect(try parser.next()?.path == "/three")
    #expect(try parser.next() == nil)
    #expect(parser.progress == .idle)
  }

  @Test func aSplitAnywhereChangesNoResult() throws {
    let bytes = Array(Self.pipeline.utf8)
    for cut in bytes.indices {
      try check(all([Array(bytes[..<cut]), Array(bytes[cut...])]))
    }
  }

  @Test(arguments: [1, 2, 3, 7, 16, 64]) func piecesOfAnySizeChangeNoResult(size: Int) throws {
    let bytes = Array(Self.pipeline.utf8)
    let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    try check(all(pieces))
  }

  @Test func refusalsDoNotDependOnTheSplit() throws {
    let head = "POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    for cut in 1..<head.utf8.count {
      let bytes = Array(head.utf8)
      #expect(status([Array(bytes[..<cut]), Array(bytes[cut...])]) == .badRequest)
    }
  }

  @Test func thousandsOfRequestsLeaveNoMemoryBehind() throws {
    let parser = HTTPRequestParser()
    let bytes = Array("GET /x HTTP/1.1\r\nHost: s\r\n\r\n".utf8)
    for _ in 0..<5_000 {
      parser.append(bytes[..<10])
      #expect(try parser.next() == nil)
      parser.append(bytes[10...])
      #expect(try parser.next()?.path == "/x")
    }
    #expect(parser.progress == .idle)
  }

  private func check(_ requests: [HTTPRequest]) {
    #expect(requests.map(\.path) == ["/one", "/two", "/three"])
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "", "d\r\nef"])
    #expect(requests.dropFirst().first?.cookie("sid") == "1")
  }

  // MARK: progress and 100-continue

  @Test func theParserReportsTheStateOfARequest() throws {
    let parser = HTTPRequestParser()
    #expect(parser.progress == .idle)
    parser.append(Array("POST / HTTP/1.1\r\nHost: s\r\n".utf8))
    #expect(try parser.next() == nil)
    #expect(parser.progress == .head)
    parser.append(Array("Content-Length: 2\r\n\r\n".utf8))
    #expect(try parser.next() == nil)
    #expect(parser.progress == .body)
    parser.append(Array("hi".utf8))
    #expect(try parser.next() != nil)
    #expect(parser.progress == .idle)
  }

  @Test func theParserAsksForABodyThatWaitsForContinue() throws {
    let parser = HTTPRequestParser()
    parser.append(Array("POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n".utf8))
    #expect(try parser.next() == nil)
    #expect(parser.takeContinue())
    #expect(!parser.takeContinue())
    parser.append(Array("hi".utf8))
    #expect(try parser.next()?.body == Array("hi".utf8))
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nh",
    "POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
    "POST / HTTP/1.0\r\nHost: s\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
  ])
  func theParserDoesNotAskForABodyThatIsComing(text: String) throws {
    let parser = HTTPRequestParser()
    parser.append(Array(text.utf8))
    _ = try parser.next()
    #expect(!parser.takeContinue())
  }

  @Test func theParserRefusesATooLargeBodyBeforeAskingForIt() {
    let parser = HTTPRequestParser(limits: HTTPLimits(body: 10))
    parser.append(Array("POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n".utf8))
    #expect(throws: HTTPError(.contentTooLarge, "The body is too large.")) { try parser.next() }
    #expect(!parser.takeContinue())
  }

  // MARK: refusals

  @Test(arguments: [
    "FOO /\r\nHost: s\r\n\r\n", "GET / HTTP/x\r\nHost: s\r\n\r\n", "GET  HTTP/1.1\r\nHost: s\r\n\r\n",
    "GET /\r\n HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",  // no Host
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /%zz HTTP/1.1\r\nHost: s\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: s\r\n\r\n",
    "GET /%ff HTTP/1.1\r\nHost: s\r\n\r\n", "GET /a#b HTTP/1.1\r\nHost: s\r\n\r\n",
    "GET /\u{e9} HTTP/1.1\r\nHost: s\r\n\r\n", "GET /a\tb HTTP/1.1\r\nHost: s\r\n\r\n",
    "CONNECT shop:80 HTTP/1.1\r\nHost: s\r\n\r\n", "GET ftp://s/ HTTP/1.1\r\nHost: s\r\n\r\n",
    "GET * HTTP/1.1\r\nHost: s\r\n\r\n", "GET shop HTTP/1.1\r\nHost: s\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: s\r\nNo colon\r\n\r\n", "GET / HTTP/1.1\r\nHost: s\r\n: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: s\r\nA: b\u{0}c\r\n\r\n", "GET / HTTP/1.1\r\nHost: s\r\nA: b\u{7f}\r\n\r\n",
  ])
  func theParserRefusesMalformedRequests(text: String) {
    #expect(status(text) == .badRequest)
  }

  @Test(arguments: ["FOO", "get", "GETS", "1"]) func anUnknownMethodIsNotImplemented(method: String) {
    #expect(status("\(method) / HTTP/1.1\r\nHost: s\r\n\r\n") == .notImplemented)
  }

  /// Each of these has been used to make two servers see different requests in the same bytes.
  @Test(arguments: [
    "Content-Length: 3\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Content-Length: 3\r\nContent-Length: 3", "Content-Length: 3\r\nContent-Length: 4", "Content-Length: 3, 3",
    "Content-Length: +3", "Content-Length: -3", "Content-Length: 0x3", "Content-Length: 3 3", "Content-Length:",
    "Content-Length: 99999999999999999999", "Content-Length : 3", "Transfer-Encoding : chunked",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity",
    "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding:\u{b}chunked",
    "X: y\r\n Transfer-Encoding: chunked", "X: y\r\n\tfolded", "X:\r\n folded", " X: y",
    "Content-Length\r\n : 3", "X Y: z",
    "X: y\nContent-Length: 3", "X: y\rContent-Length: 3", "\rContent-Length: 3", "X: y\r\n\rZ: \r\n",
  ])
  func theParserRefusesAmbiguousRequests(field: String) {
    #expect(status("POST / HTTP/1.1\r\nHost: s\r\n\(field)\r\n\r\n3\r\nabc\r\n0\r\n\r\n") == .badRequest)
  }

  @Test func theParserRefusesBareLineFeeds() {
    #expect(status("GET / HTTP/1.1\nHost: s\n\n") == .badRequest)
    #expect(status("\n") == .badRequest)
  }

  @Test func theParserRefusesATransferCodingFromAnOldClient() {
    #expect(status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == .badRequest)
  }

  @Test(arguments: [
    "5\nhello\r\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\r\nhello\r0\r\n\r\n", "5\rXhello\r\n0\r\n\r\n", "\r\n",
    "g\r\n", "-1\r\n", "0x5\r\nhello\r\n", "5 \r\nhello\r\n", "5 5\r\nhello\r\n", "+5\r\nhello\r\n",
    "fffffffffffffffff\r\n", "5;a\nb\r\nhello\r\n", "5;a\rb\r\nhello\r\n",
    "0\r\nNo colon\r\n\r\n", "0\r\n folded: x\r\n\r\n", "0\r\nA : b\r\n\r\n", "0\r\nA: b\n\r\n",
    "0\r\n\rX\r\n",
  ])
  func theParserRefusesMalformedChunks(body: String) {
    #expect(status("POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n\(body)") == .badRequest)
  }

  @Test(arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"]) func theParserRefusesOtherVersions(version: String) {
    #expect(status("GET / \(version)\r\nHost: s\r\n\r\n") == .versionNotSupported)
  }

  @Test func theParserRefusesOtherExpectations() {
    #expect(status("GET / HTTP/1.1\r\nHost: s\r\nExpect: 200-ok\r\n\r\n") == .expectationFailed)
  }

  // MARK: limits

  @Test func theParserLimitsTheRequestLine() {
    let limits = HTTPLimits(requestLine: 100)
    let fitting = "GET /" + String(repeating: "a", count: 100 - 14) + " HTTP/1.1"
    #expect(fitting.utf8.count == 100)
    #expect(status(fitting + "\r\nHost: s\r\n\r\n", limits) == nil)
    #expect(status(fitting.replacing("/a", with: "/aa") + "\r\nHost: s\r\n\r\n", limits) == .uriTooLong)
    // Without waiting for its end.
    #expect(status("GET /" + String(repeating: "a", count: 200), limits) == .uriTooLong)
    #expect(status([Array("GET /".utf8), [UInt8](repeating: 97, count: 97)], limits) == .uriTooLong)
  }

  @Test func theParserLimitsTheHead() {
    let limits = HTTPLimits(requestLine: 100, head: 200)
    let start = "GET / HTTP/1.1\r\nHost: s\r\nX: "
    let room = 200 - start.utf8.count - 4
    #expect(status(start + String(repeating: "b", count: room) + "\r\n\r\n", limits) == nil)
    #expect(status(start + String(repeating: "b", count: room + 1) + "\r\n\r\n", limits) == .headerFieldsTooLarge)
    #expect(status(start + String(repeating: "b", count: 400), limits) == .headerFieldsTooLarge)
    let many = (0..<50).map { "X\($0): 1\r\n" }.joined()
    #expect(status("GET / HTTP/1.1\r\nHost: s\r\n\(many)", limits) == .headerFieldsTooLarge)
  }

  @Test func theParserLimitsTheNumberOfFields() {
    let limits = HTTPLimits(fields: 3)
    #expect(status("GET / HTTP/1.1\r\nHost: s\r\nA: 1\r\nB: 1\r\n\r\n", limits) == nil)
    #expect(
      status("GET / HTTP/1.1\r\nHost: s\r\nA: 1\r\nB: 1\r\nC: 1\r\n\r\n", limits) == .headerFieldsTooLarge)
  }

  @Test func theParserLimitsTheBody() {
    let limits = HTTPLimits(body: 10)
    #expect(status("POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 10\r\n\r\n0123456789", limits) == nil)
    #expect(status("POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 11\r\n\r\n", limits) == .contentTooLarge)
    let chunked = "POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(status(chunked + "5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", limits) == nil)
    #expect(status(chunked + "5\r\n01234\r\n6\r\n", limits) == .contentTooLarge)
    #expect(status(chunked + "7fffffffffffff\r\n", limits) == .contentTooLarge)
  }

  @Test func theParserLimitsChunkLinesAndTrailers() {
    let chunked = "POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(status(chunked + "5;" + String(repeating: "a", count: 300)) == .badRequest)
    let limits = HTTPLimits(requestLine: 100, head: 200)
    let trailers = (0..<50).map { "X\($0): 1\r\n" }.joined()
    #expect(status(chunked + "0\r\n" + trailers, limits) == .headerFieldsTooLarge)
    #expect(status(chunked + "0\r\nX: " + String(repeating: "a", count: 300), limits) == .headerFieldsTooLarge)
  }

  @Test func theParserStaysRefusedAfterAFailure() {
    let parser = HTTPRequestParser()
    parser.append(Array("BAD\r\n\r\n".utf8))
    #expect(throws: HTTPError.self) { try parser.next() }
    parser.append(Array("GET / HTTP/1.1\r\nHost: s\r\n\r\n".utf8))
    #expect(throws: HTTPError.self) { try parser.next() }
  }

  @Test func requestsBeforeAMalformedOneAreReturned() throws {
    let parser = HTTPRequestParser()
    parser.append(Array("GET /good HTTP/1.1\r\nHost: s\r\n\r\nBAD\r\n\r\n".utf8))
    #expect(try parser.next()?.path == "/good")
    #expect(throws: HTTPError.self) { try parser.next() }
  }

  @Test(arguments: ["\n", "\r\n", "\rx\r\n"])
  func aLongLineIsRefusedForItsLengthInPiecesOrWhole(end: String) {
    let long = String(repeating: "a", count: 40)
    for start in ["", "GET / HTTP/1.1\r\nHost: s\r\n"] {
      let pieces = [Array((start + long).utf8), Array(end.utf8)]
      let limits = HTTPLimits(requestLine: 30, head: 50)
      let expected = start.isEmpty ? HTTPStatus.uriTooLong : .headerFieldsTooLarge
      #expect(status(pieces, limits) == expected)
      #expect(status([pieces[0] + pieces[1]], limits) == expected)
    }
  }

  // MARK: helpers

  private func one(_ text: String) throws -> HTTPRequest {
    let requests = try all(text)
    try #require(requests.count == 1)
    return requests[0]
  }

  private func all(_ text: String) throws -> [HTTPRequest] { try all([Array(text.utf8)]) }

  private func all(_ pieces: [[UInt8]], _ limits: HTTPLimits = HTTPLimits()) throws -> [HTTPRequest] {
    let parser = HTTPRequestParser(limits: limits)
    var requests: [HTTPRequest] = []
    for piece in pieces {
      parser.append(piece)
      while let request = try parser.next() { requests.append(request) }
    }
    return requests
  }

  private func status(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> HTTPStatus? {
    status([Array(text.utf8)], limits)
  }

  private func status(_ pieces: [[UInt8]], _ limits: HTTPLimits = HTTPLimits()) -> HTTPStatus? {
    do {
      _ = try all(pieces, limits)
      return nil
    } catch {
      return (error as? HTTPError)?.status
    }
  }
}
