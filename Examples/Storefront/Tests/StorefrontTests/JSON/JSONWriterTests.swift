import Testing

@testable import Storefront

@Suite struct JSONWriterTests {
  @Test func theWriterWritesNestedValues() throws {
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
    #expect(try JSONValue(bytes)["text"]?.string == "a\"b\\c\n\u{1}</script>é")
  }

  @Test func theWriterWritesArraysOfObjects() {
    let bytes = JSONWriter.array([1, 2]) { json, element in json.object { $0.field("n", element) } }
    #expect(String(decoding: bytes, as: UTF8.self) == #"[{"n":1},{"n":2}]"#)
    #expect(JSONWriter.array([Int]()) { $0.number($1) } == Array("[]".utf8))
  }
}
