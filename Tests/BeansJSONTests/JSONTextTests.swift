import Beans
import BeansJSON
import Testing

@Suite struct JSONTextTests {
  private func items(_ text: String) throws -> [ConfigurationItem] {
    try JSONText.items(from: Array(text.utf8), path: "shop.json")
  }

  private func value(_ text: String) throws -> any Sendable {
    try #require(items("{\"a\": \(text)}").first).value
  }

  @Test func itemsAreInOrderAndHaveTheirLines() throws {
    let text = "{\n  \"z\": 1,\n\n  \"a\": {\"y\": 2,\n  \"b\":\n 3}, \"l\": [\n[1],\n\n{\"x\": 4}]\r\n}"
    let found = try items(text).map { "\($0.key):\($0.line ?? 0)" }
    #expect(found == ["z:2", "a.y:4", "a.b:5", "l:6", "l.0:7", "l.1.x:9"])
    #expect(try items(text).allSatisfy { !$0.dynamic && !$0.isSecret && $0.scope.isEmpty })
  }

  @Test func byteOrderMarksAndEmptyObjectsAreAccepted() throws {
    #expect(try items("\u{FEFF} { } \n").isEmpty)
    #expect(try items("{\"a\": {}, \"b\": {\"c\": {}}}").isEmpty)
    let fault = #expect(throws: EnvironmentError.self) { try items("\u{FEFF}{x") }
    #expect(fault?.origin == .init(file: "shop.json", line: 1, column: 2))
  }

  @Test(arguments: [
    (#""""#, ""), (#""a\"b\\c\/d""#, "a\"b\\c/d"), (#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t"),
    (#""\u00e4\u20AC\uD83D\uDE00""#, "ä€😀"), (#""\u0000""#, "\0"), ("\"é\u{7f}\u{2028}\"", "é\u{7f}\u{2028}"),
  ])
  func textsAreUnescaped(written: String, read: String) throws {
    #expect(try value(written) as? String == read)
  }

  @Test func numbersKeepTheirTypeAndRange() throws {
    for (text, number) in [("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", Int.max)] {
      #expect(try value(text) as? Int == number)
    }
    #expect(try value("9223372036854775808") as? UInt64 == 9_223_372_036_854_775_808)
    let reals = [
      ("18446744073709551616", 18_446_744_073_709_551_616), ("1e2", 100), ("-0.0", 0), ("1.5E-3", 0.0015),
      ("1e+2", 100), ("1e-400", 0), ("-9223372036854775809", -9_223_372_036_854_775_808),
    ]
    for (text, number) in reals { #expect(try value(text) as? Double == number, "\(text)") }
    #expect(try value("[18446744073709551615]") as? [UInt64] == [.max])
  }

  @Test(arguments: [
    ("{\"a\": 1, // x\n}", "comment", 10), ("# x", "comment", 1), ("/* x */ {}", "comment", 1),
    ("{\"a\": 1,}", "remove the comma", 9), ("{\"a\": [1,]}", "remove the comma", 10), ("{,}", "remove the comma", 2),
    ("{\"a\": [,1]}", "remove the comma", 8), ("{a: 1}", "double quotes", 2), ("{'a': 1}", "double quotes", 2),
    ("{\"a\": 'x'}", "double quotes", 7), ("{\"a\": x}", "double quotes", 7), ("{\"a\": True}", "lower case", 7),
    ("{\"a\": None}", "write null", 7), ("{\"a\": yes}", "true or false", 7), ("{\"a\": NaN}", "no number", 7),
    ("{\"a\": -Infinity}", "digit", 8), ("{\"a\": 01}", "leading zeros", 7), ("{\"a\": -00}", "leading zeros", 7),
    ("{\"a\": +1}", "sign", 7), ("{\"a\": .5}", "point", 7), ("{\"a\": 1.}", "point", 9),
    ("{\"a\": 1e}", "exponent", 9),
    ("{\"a\": -}", "sign", 8), ("{\"a\": 1e999}", "out of range", 7), ("{\"a\" 1}", "':'", 6),
    ("{\"a\": }", "no value", 7),
    ("{\"a\": 1 \"b\": 2}", "','", 9), ("{\"a\": [1 2]}", "','", 10), ("{\"a\": \"x}", "not closed", 7),
    ("{\"a\": \"x\n\"}", "not closed", 7), ("{\"a\": \"\\x\"}", "backslash", 8), ("{\"a\": \"\t\"}", "'\\t'", 8),
    ("{\"a\": \"\u{1f}\"}", "'\\u001f'", 8), ("{\"a\": \"\\u12\"}", "hexadecimal", 8),
    ("{\"a\": \"\\u+123\"}", "hexadecimal", 8),
    ("{\"a\": \"\\uD83D\"}", "surrogate", 8), ("{\"a\": \"\\uDE00\\uD83D\"}", "surrogate", 8),
    ("{\"a\": \"\\uD83D\\uD83D\"}", "surrogate", 8), ("{\"a\": \"\\uD83D\\n\"}", "surrogate", 8),
    ("{\"a\": \"\\", "text", 9),
    ("{\"a\": [1", "array that begins in line 1", 9), ("{\"a\": 1", "object that begins in line 1", 8),
    ("{} {}", "after the end", 4),
    ("{\"a\":", "place of a value", 6),
  ])
  func faultsOfSyntaxNamePlaceAndRemedy(text: String, message: String, column: Int) throws {
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    #expect(fault.code == .conversionFailed && fault.message.contains(message), "\(fault)")
    #expect(fault.origin == .init(file: "shop.json", line: 1, column: column), "\(fault)")
  }

  @Test(arguments: [
    ([0x7B, 0x0A, 0x22, 0xC3, 0x28, 0x22], 2, 2), ([0xFF, 0xFE], 1, 1), ([0x7B, 0x22, 0xED, 0xA0, 0x80, 0x22], 1, 3),
    ([0x22, 0xF0, 0x9F], 1, 2),
  ])
  func bytesThatAreNotUTF8AreRefused(bytes: [UInt8], line: Int, column: Int) throws {
    let fault = try #require(throws: EnvironmentError.self) { try JSONText.items(from: bytes, path: "x") }
    #expect(fault.message.contains("UTF-8") && fault.origin == .init(file: "x", line: line, column: column), "\(fault)")
  }

  @Test func depthAndNumberOfValuesAreLimited() throws {
    func nested(_ depth: Int) -> String {
      "{\"a\": " + String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth) + "}"
    }
    #expect(try items(nested(255)).count == 255)
    #expect(throws: EnvironmentError.self) { try items(nested(256)) }
    let many = "{\"a\": [" + String(repeating: "1,", count: 1_000_000) + "1]}"
    let fault = try #require(throws: EnvironmentError.self) { try items(many) }
    #expect(fault.message.contains("1000000 values"))
    let large = try #require(throws: EnvironmentError.self) {
      try JSONText.items(from: Array(repeating: 0x20, count: 8 * 1024 * 1024 + 1), path: "x")
    }
    #expect(large.message.contains("bytes"))
  }

  /// A key of a megabyte above a hundred values would become a hundred megabytes.
  @Test func aLongKeyDoesNotMultiply() throws {
    let key = String(repeating: "k", count: 1_000_000)
    let values = (0..<100).map { "\"\($0)\": 1" }.joined(separator: ",")
    let fault = try #require(throws: EnvironmentError.self) { try items("{\"\(key)\": {\(values)}}") }
    #expect(
      fault.message.contains("bytes in total") && fault.description.utf8.count < 1_000, "\(fault.message.prefix(300))")
  }

  @Test func faultsOfValuesAreFoundAtOnce() throws {
    let text = """
      {
        "a": 1, "a": 2,
        "b": {"c": 1, "c": {"d": 1}},
        "e.f": 1,
        "e": {"f": [1, null, {}]},
        "g": [1, null], "n:h": 1, "n": {"h": 1}, ":i": 1,
        "i": 2, "": 3
      }
      """
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }.map { "\($0.origin?.line ?? 0) \($0.message)" }
    let expected = [
      "2 'a' is given twice", "3 'b.c' is given twice", "5 'e.f' is given twice", "5 'e.f.1' is null",
      "5 'e.f.2' is an object",
      "6 'g.1' is null", "7 'i' is given twice, in line 6 and in line 7", "7 the key '' is empty",
    ]
    #expect(faults.count == expected.count, "\(fault)")
    for (fault, expected) in zip(faults, expected) {
      let parts = expected.split(separator: " ", maxSplits: 1)
      #expect(fault.hasPrefix(parts[0]) && fault.contains(parts[1]), "\(fault)")
    }
    let many = "{\"a\": [{}" + String(repeating: ",{}", count: 999) + "]}"
    let all = try #require(throws: EnvironmentError.self) { try items(many) }
    #expect(all.underlying.count == 100 && all.message.contains("1000 faults"))
  }

  @Test func aNullTakesBackTheValueOfAnEarlierSource() throws {
    let manager = ConfigurationManager()
    try manager.addSource(Values(["a": 1, "b": 1]))
    try manager.addSource(Values(items("{\"a\": null, \"c\": null}")))
    #expect(try manager.getValue(Int?.self, key: "a") == nil)
    #expect(try manager.getValue(Int.self, key: "b") == 1)
    #expect(!manager.hasValue(key: "a") && !manager.hasValue(key: "c"))
  }

  @Test func aSectionReadsArraysOfObjects() throws {
    struct Server: Decodable, Equatable {
      var host: String
      var ports: [Int]
    }
    let manager = ConfigurationManager()
    try manager.addSource(
      Values(items(#"{"servers": [{"host": "a", "ports": [1, 2]}, {"host": "b", "ports": []}]}"#)))
    let servers = try manager.getConfiguration([Server].self, prefix: "servers")
    #expect(servers == [Server(host: "a", ports: [1, 2]), Server(host: "b", ports: [])])
  }
}

private final class Values: ConfigurationSource {
  let url = "values"
  let canOverrule = true
  private let items: [ConfigurationItem]

  init(_ items: [ConfigurationItem]) { self.items = items }

  convenience init(_ values: [String: Int]) {
    self.init(values.map { ConfigurationItem(key: $0.key, value: $0.value) })
  }

  func load(_ manager: ConfigurationManager) throws {
    for item in items { try manager.configurationAdded(item, source: self) }
  }
}
