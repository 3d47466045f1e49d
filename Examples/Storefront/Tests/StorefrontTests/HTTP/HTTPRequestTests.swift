import Testing

@testable import Storefront

@Suite struct HTTPRequestTests {
  private func request(_ fields: [(String, String)], query: String? = nil) -> HTTPRequest {
    HTTPRequest(method: .get, path: "/", query: query, headers: HTTPHeaders(fields))
  }

  @Test func aRequestFindsCookies() {
    let request = request([("cookie", "a=1; sid=abc ;b=\"quoted\";c"), ("Cookie", "late=x=y; a=2")])
    #expect(request.cookie("a") == "2")
    #expect(request.cookie("sid") == "abc")
    #expect(request.cookie("b") == "quoted")
    #expect(request.cookie("late") == "x=y")
    #expect(request.cookie("c") == nil)
    #expect(request.cookie("SID") == nil)
    #expect(request.cookie("id") == nil)
  }

  @Test func aRequestHasNoCookieWithoutTheField() {
    #expect(request([]).cookie("sid") == nil)
  }

  @Test func aRequestReadsTheMediaType() {
    #expect(request([("Content-Type", "Application/JSON; charset=utf-8")]).contentType == "application/json")
    #expect(request([]).contentType == nil)
  }

  @Test func aRequestReadsTheQuery() throws {
    let fields = try request([], query: "product=3&name=a+b%21&flag&=x").queryFields()
    #expect(fields["product"] == "3")
    #expect(fields["name"] == "a b!")
    #expect(fields["flag"] == "")
    #expect(fields["none"] == nil)
  }

  @Test(arguments: ["a=%", "a=%1", "a=%gg", "%ff=1", "a=%00"]) func aRequestRefusesAMalformedQuery(query: String) {
    #expect(throws: HTTPError.self) { try request([], query: query).queryFields() }
  }

  @Test func aRequestOfABrowserDiffersFromThatOfAProgram() {
    #expect(request([("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]).acceptsHTML)
    #expect(!request([("Accept", "*/*")]).acceptsHTML)
  }
}
