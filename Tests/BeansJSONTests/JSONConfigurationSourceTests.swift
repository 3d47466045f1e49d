import Beans
import BeansJSON
import TestSupport
import Testing

@Suite struct JSONConfigurationSourceTests {
  private let folder: TemporaryDirectory
  private let manager = ConfigurationManager()

  init() throws { folder = try TemporaryDirectory() }

  private func load(_ text: String) throws {
    try manager.addSource(JSONConfigurationSource(path: folder.write("settings.json", text)))
  }

  @Test func objectsBecomeDottedKeysAndColonsNamespaces() throws {
    try load(
      #"{"a": "x", "server": {"port": 80, "tls": {"on": true}}, "shop:mail": {"host": "h"}, "shop:a:b": 1, "n": {"o:p": 2}}"#
    )
    #expect(try manager.getValue(String.self, key: "a") == "x")
    #expect(try manager.getValue(Int.self, key: "server.port") == 80)
    #expect(try manager.getValue(Bool.self, key: "server.tls.on"))
    #expect(try manager.getValue(String.self, namespace: "shop", key: "mail.host") == "h")
    #expect(try manager.getValue(Int.self, namespace: "shop", key: "a:b") == 1)
    #expect(try manager.getValue(Int.self, key: "n.o:p") == 2)
    #expect(!manager.hasValue(key: "server"))
  }

  @Test func valuesHaveTheTypeTheyAreWrittenIn() throws {
    try load(
      #"{"zero": 0, "one": 1, "yes": true, "no": false, "real": 1.5, "whole": 2.0, "max": 18446744073709551615, "min": -9223372036854775808, "big": 1e300, "text": "1", "none": null}"#
    )
    #expect(try manager.getValue((any Sendable).self, key: "zero") as? Int == 0)
    #expect(try manager.getValue((any Sendable).self, key: "one") as? Bool == nil)
    #expect(try manager.getValue((any Sendable).self, key: "yes") as? Bool == true)
    #expect(try manager.getValue((any Sendable).self, key: "yes") as? Int == nil)
    #expect(try manager.getValue((any Sendable).self, key: "no") as? Bool == false)
    #expect(try manager.getValue((any Sendable).self, key: "real") as? Double == 1.5)
    #expect(try manager.getValue((any Sendable).self, key: "whole") as? Double == 2)
    #expect(try manager.getValue((any Sendable).self, key: "max") as? UInt64 == .max)
    #expect(try manager.getValue((any Sendable).self, key: "min") as? Int == .min)
    #expect(try manager.getValue((any Sendable).self, key: "big") as? Double == 1e300)
    #expect(try manager.getValue((any Sendable).self, key: "text") as? String == "1")
    #expect(!manager.hasValue(key: "none"))
  }

  @Test func arraysOfOneKindAreValues() throws {
    try load(#"{"i": [1, 2], "d": [1, 2.5], "s": ["a"], "b": [true, false], "e": []}"#)
    #expect(try manager.getValue([Int].self, key: "i") == [1, 2])
    #expect(try manager.getValue([Double].self, key: "d") == [1, 2.5])
    #expect(try manager.getValue([String].self, key: "s") == ["a"])
    #expect(try manager.getValue([Bool].self, key: "b") == [true, false])
    #expect(try manager.getValue([Int].self, key: "e").isEmpty)
    #expect(try manager.getValue([String].self, key: "e").isEmpty)
  }

  @Test func arraysOfObjectsAreIndexedKeys() throws {
    try load(
      #"{"port": 80, "servers": [{"host": "a", "ports": [1, 2]}, {"host": "b"}], "mixed": [1, "two", [[true]]]}"#)
    #expect(try manager.getValue(Int.self, key: "port") == 80)
    #expect(try manager.getValue(String.self, key: "servers.0.host") == "a")
    #expect(try manager.getValue([Int].self, key: "servers.0.ports") == [1, 2])
    #expect(try manager.getValue(String.self, key: "servers.1.host") == "b")
    #expect(try manager.getValue(Int.self, key: "mixed.0") == 1)
    #expect(try manager.getValue(String.self, key: "mixed.1") == "two")
    #expect(try manager.getValue([Bool].self, key: "mixed.2.0") == [true])
  }

  @Test func aFaultOfAValueNamesItsLine() throws {
    let text = "{\n  \"a\": 1,\n  \"b\": [1, null],\n  \"c\": {\n    \"\": 2\n  }\n}"
    let fault = try #require(throws: EnvironmentError.self) { try load(text) }
    let lines = fault.underlying.compactMap { ($0 as? EnvironmentError)?.origin?.line }
    #expect(lines == [3, 5], "\(fault)")
  }

  @Test(arguments: [("{\"a\": 1,\n \"a\": 2}", "a", 2), ("{\"a\": {\"b\": 1},\n\n\"a.b\": 2}", "a.b", 3)])
  func aKeyThatIsGivenTwiceIsAFaultWithBothLines(text: String, key: String, line: Int) throws {
    let fault = try #require(throws: EnvironmentError.self) { try load(text) }
    #expect(fault.code == .conversionFailed && fault.message.contains("'\(key)'"))
    #expect(fault.origin?.line == line && fault.message.contains("line 1"), "\(fault)")
  }

  @Test(arguments: [
    ("", 1, 1), ("{", 1, 2), ("{\n \"a\":\n x}", 3, 2), ("{\"a\": 1}\n}", 2, 1), ("{\"é\": \"é\" 1}", 1, 11),
    ("nul", 1, 1),
    ("[1]", 1, nil), ("1", 1, nil), ("null", 1, nil), ("{\"a\": [null]}", 1, nil), ("{\"a\": [{}]}", 1, nil),
    ("{\"\": 1}", 1, nil), ("{\"a\": {\"\": 1}}", 1, nil),
    ("{\"n:\": 1}", 1, nil), ("{\"a\": 1e999}", 1, nil), ("{\"a\": \"\u{1}\"}", 1, 8),
  ])
  func aMalformedFileIsAnErrorThatNamesTheFile(_ text: String, line: Int, column: Int?) throws {
    let fault = try #require(throws: EnvironmentError.self) { try load(text) }
    #expect(fault.code == .conversionFailed)
    #expect(fault.origin?.file.hasSuffix("/settings.json") == true && fault.message.contains("settings.json"))
    #expect(fault.origin?.line == line, "\(fault)")
    if let column { #expect(fault.origin?.column == column, "\(fault)") }
    #expect(!manager.hasValue(key: "a"))
  }

  @Test func depthIsLimited() throws {
    for text in ["[", "{\"a\":"] {
      let fault = try #require(throws: EnvironmentError.self) { try load(String(repeating: text, count: 100_000)) }
      #expect(fault.code == .conversionFailed && fault.message.contains("nested"))
    }
  }

  @Test func allValuesThatAreNoneAreNamed() throws {
    let fault = try #require(throws: EnvironmentError.self) { try load(#"{"a": [null], "b": 1, "c": {"d": [{}]}}"#) }
    let text = "\(fault)"
    #expect(text.contains("'a.0'") && text.contains("'c.d.0'") && !text.contains("'b'"))
    #expect(!manager.hasValue(key: "b"))
  }

  @Test func bytesThatAreNotUTF8AreAnError() throws {
    let path = try folder.write("settings.json", [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D] as [UInt8])
    let fault = try #require(throws: EnvironmentError.self) {
      try manager.addSource(JSONConfigurationSource(path: path))
    }
    #expect(fault.code == .conversionFailed && fault.origin?.column == 3)
  }

  @Test func filesThatCannotBeReadAreErrors() throws {
    for path in ["", "/no/such/file.json", folder.path, "/dev/zero"] {
      let fault = try #require(throws: EnvironmentError.self) {
        try manager.addSource(JSONConfigurationSource(path: path))
      }
      #expect(fault.code == .missingConfiguration && fault.message.contains("'\(path)'"), "\(fault)")
    }
    let path = try folder.write("large.json", [UInt8](repeating: 0x20, count: 8 * 1024 * 1024 + 1))
    let fault = try #require(throws: EnvironmentError.self) {
      try manager.addSource(JSONConfigurationSource(path: path))
    }
    #expect(fault.message.contains("bytes"))
  }

  @Test func aLaterFileReplacesValuesOfAnEarlierOne() throws {
    try load(#"{"a": 1, "b": 1}"#)
    try manager.addSource(JSONConfigurationSource(path: folder.write("later.json", #"{"a": 2}"#)))
    #expect(try manager.getValue(Int.self, key: "a") == 2)
    #expect(try manager.getValue(Int.self, key: "b") == 1)
  }
}
