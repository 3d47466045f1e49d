import Testing

@testable import Storefront

@Suite struct JSONParserTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  @Test func readsEveryKindOfValue() throws {
    let value = try parse(
      #" {"a": [1, -20, 0, 2.5, 1e2, true, false, null], "b": {"c": "d"}, "e": {}, "f": []} "#)
    #expect(
      value
        == .object([
          "a": .array([
            .integer(1), .integer(-20), .integer(0), .number(2.5), .number(100), .bool(true), .bool(false), .null,
          ]),
          "b": .object(["c": .string("d")]), "e": .object([:]), "f": .array([]),
        ]))
    #expect(value["b"]?["c"]?.string == "d")
    #expect(value["a"]?["c"] == nil)
    #expect(value["zz"]?.integer == nil)
  }

  @Test func readsEscapes() throws {
    #expect(try parse(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00 é""#) == .string("\"\\/\u{8}\u{c}\n\r\té😀 é"))
  }

  @Test(arguments: [
    "", " ", "{", "[", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "tru", "nulls", "01",
    "-",
    "1.", ".5", "1e", "+1", "1e999", "\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
    "\"\\udc00\"", "\"\u{1}\"", "\"a\nb\"", "1 2", "{} x", "'a'", "//", "NaN", "Infinity",
  ])
  func refusesWhatIsMalformed(text: String) {
    #expect(throws: JSONParser.Failure.self) { try parse(text) }
  }

  @Test func refusesBadUTF8() {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func limitsNesting() throws {
    _ = try parse(String(repeating: "[", count: 32) + String(repeating: "]", count: 32))
    #expect(throws: JSONParser.Failure(offset: 32)) { try parse(String(repeating: "[", count: 100_000)) }
  }

  @Test func keepsLargeIntegersExact() throws {
    #expect(try parse("9223372036854775807") == .integer(.max))
    #expect(try parse("9223372036854775808") == .number(9_223_372_036_854_775_808))
  }
}

@Suite struct JSONWriterTests {
  @Test func writesNestedValues() throws {
    let bytes = JSONWriter.object { json in
      json.field("text", "a\"b\\c\n\u{1}</script>é")
      json.field("number", -5)
      json.field("minimum", Int64.min)
      json.field("zero", 0)
      json.field("flag", true)
      json.field("list", [1, 2]) { $0.number($1) }
      json.field("none", [Int]()) { $0.number($1) }
      json.field("inner") { $0.field("x", 1) }
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"text":"a\"b\\c\n\u0001\u003c/script>é","number":-5,"minimum":-9223372036854775808,"zero":0,"#
        + #""flag":true,"list":[1,2],"none":[],"inner":{"x":1}}"#)
    #expect(try JSONParser.parse(bytes)["text"]?.string == "a\"b\\c\n\u{1}</script>é")
  }

  @Test func writesArraysOfObjects() {
    let bytes = JSONWriter.array([1, 2]) { json, element in json.object { $0.field("n", element) } }
    #expect(String(decoding: bytes, as: UTF8.self) == #"[{"n":1},{"n":2}]"#)
    #expect(JSONWriter.array([Int]()) { $0.number($1) } == Array("[]".utf8))
  }
}
