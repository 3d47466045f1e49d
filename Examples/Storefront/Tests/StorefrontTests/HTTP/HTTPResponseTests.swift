import Testing

@testable import Storefront

@Suite struct HTTPResponseTests {
  private func serialise(_ response: HTTPResponse, isHead: Bool = false, keepAlive: Bool = true) -> String {
    var output: [UInt8] = []
    response.serialise(into: &output, isHead: isHead, keepAlive: keepAlive, date: Array("THEDATE".utf8))
    return String(decoding: output, as: UTF8.self)
  }

  @Test func aResponseWritesStatusFieldsAndBody() throws {
    var response = HTTPResponse.text(.ok, "hé")
    try response.addField("X-A", "b")
    #expect(
      serialise(response) == "HTTP/1.1 200 OK\r\nDate: THEDATE\r\nContent-Length: 3\r\n"
        + "Content-Type: text/plain; charset=utf-8\r\nX-A: b\r\n\r\nhé")
  }

  @Test func aResponseToHeadHasNoBody() {
    let text = serialise(.text(.ok, "hello"), isHead: true)
    #expect(text.contains("Content-Length: 5\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
  }

  @Test func someStatusesHaveNeitherBodyNorLength() {
    let text = serialise(HTTPResponse(.noContent, body: [1, 2]))
    #expect(text == "HTTP/1.1 204 No Content\r\nDate: THEDATE\r\n\r\n")
  }

  @Test func aResponseAnnouncesThatTheConnectionCloses() {
    #expect(serialise(HTTPResponse(.ok), keepAlive: false).contains("\r\nConnection: close\r\n"))
    #expect(!serialise(HTTPResponse(.ok)).contains("Connection"))
  }

  @Test func aResponseIsAppendedToTheBuffer() {
    var output: [UInt8] = Array("before".utf8)
    HTTPResponse(.ok).serialise(into: &output, isHead: false, keepAlive: true, date: [])
    #expect(String(decoding: output, as: UTF8.self).hasPrefix("beforeHTTP/1.1 200 OK\r\n"))
  }

  @Test(arguments: [
    ("X", "a\r\nSet-Cookie: sid=1"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\u{0}"), ("X", "\u{7f}"),
    ("", "a"), ("X Y", "a"), ("X:", "a"), ("X\r\nY", "a"), ("é", "a"),
    ("Content-Length", "1"), ("transfer-encoding", "chunked"), ("CONNECTION", "close"), ("date", "now"),
  ])
  func aResponseRefusesFieldsThatWouldBreakTheMessage(name: String, value: String) {
    var response = HTTPResponse(.ok)
    #expect(throws: HTTPError.self) { try response.addField(name, value) }
    #expect(response.fieldLines.isEmpty)
  }

  @Test func aResponseWritesCookies() throws {
    var response = HTTPResponse(.ok)
    response.addCookie(try HTTPCookie(name: "sid", value: "abc", maxAge: 60))
    #expect(
      serialise(response).contains("\r\nSet-Cookie: sid=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60\r\n"))
    #expect(
      try HTTPCookie(name: "a", value: "", isSecure: true).fieldValue == "a=; Path=/; HttpOnly; SameSite=Lax; Secure")
  }

  @Test(arguments: [("", "a"), ("a b", "c"), ("a=", "c"), ("a", "b;c"), ("a", "b\r\nX: y"), ("a", "b c"), ("a", "\"")])
  func aResponseRefusesCookiesThatWouldBreakTheField(name: String, value: String) {
    #expect(throws: HTTPError.self) { try HTTPCookie(name: name, value: value) }
  }

  @Test func errorsAreWrittenAsJSON() {
    let text = serialise(HTTPResponse(HTTPError(.notFound, "No \"thing\".")))
    #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    #expect(text.hasSuffix("{\"error\":\"No \\\"thing\\\".\"}"))
  }

  @Test func aResponseRedirectsTheBrowser() {
    #expect(serialise(.seeOther("/")).contains("\r\nLocation: /\r\n"))
  }

  @Test func everyStatusHasAReasonAndAThreeDigitCode() {
    for status in HTTPStatus.allCases {
      #expect((100...599).contains(status.rawValue))
      #expect(status.reason.utf8CodeUnitCount > 1)
    }
  }
}

@Suite struct HTTPDateTests {
  @Test(arguments: [
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
  ])
  func theDateHasTheFormatOfHTTP(second: Int, expected: String) {
    var date = HTTPDate()
    #expect(String(decoding: date.at(second), as: UTF8.self) == expected)
  }

  @Test func theDateFollowsTheClock() {
    var date = HTTPDate()
    let first = date.at(59)
    #expect(date.at(59) == first)
    #expect(String(decoding: date.at(60), as: UTF8.self).hasSuffix("00:01:00 GMT"))
  }
}
