import Beans
import BeansYAML
import Testing

@Suite struct YAMLTextTests {
  private func items(_ text: String) throws -> [ConfigurationItem] {
    try YAMLText.items(from: Array(text.utf8), path: "shop.yaml")
  }

  /// The items as `key=value`.
  private func values(_ text: String) throws -> [String] {
    try items(text).map { "\($0.namespace.isEmpty ? "" : "\($0.namespace):")\($0.key)=\($0.value)" }
  }

  private func value(_ text: String) throws -> any Sendable { try #require(items("a: \(text)").first).value }

  @Test func mappingsBecomeDottedKeysAndHaveTheirLines() throws {
    let text = """
      # a comment
      server:
        port: 80
        hosts: [a, b]
      mirrors:
        - url: one
          weights: {x: 1, y: 2}
        - url: "two"
      shop:mail:
        host: mail.example
      80: key
      """
    #expect(
      try values(text) == [
        "server.port=80", "server.hosts=[\"a\", \"b\"]", "mirrors=(a list of 2 elements)", "mirrors.0.url=one",
        "mirrors.0.weights.x=1",
        "mirrors.0.weights.y=2", "mirrors.1.url=two", "shop:mail.host=mail.example", "80=key",
      ])
    #expect(try items(text).map(\.line) == [3, 4, 5, 6, 7, 7, 8, 10, 11])
  }

  @Test(arguments: ["", "# only a comment\n", "---\n", "--- ~\n...\n", "{}", "\u{FEFF}"])
  func filesWithoutValuesAreEmpty(text: String) throws { #expect(try items(text).isEmpty) }

  @Test(arguments: [
    ("no", "no"), ("on", "on"), ("12:30", "12:30"), ("1_000", "1_000"), ("0x", "0x"), ("0o8", "0o8"),
    ("1.2.3", "1.2.3"),
    ("-", nil), ("+", "+"), (".", "."), ("1e", "1e"), ("'1'", "1"), ("\"true\"", "true"), ("'~'", "~"),
    ("\"a\\n\\u00e4\"", "a\nä"),
    ("tRUE", "tRUE"), ("!!str 12", "12"), ("! 12", "12"), ("|\n  a\n  b", "a\nb"), (">-\n  a\n  b", "a b"),
    ("2026-01-01", "2026-01-01"),
    ("0b1", "0b1"), ("- x", nil), ("inf", "inf"), ("nan", "nan"), ("-0x1", "-0x1"),
  ])
  func textsAreReadInEveryStyle(written: String, read: String?) throws {
    guard let read else { return }
    #expect(try value(written) as? String == read, "\(written)")
  }

  @Test func scalarsHaveTheTypesOfTheCoreSchema() throws {
    for (text, truth) in [("true", true), ("True", true), ("TRUE", true), ("false", false), ("FALSE", false)] {
      #expect(try value(text) as? Bool == truth)
    }
    for (text, number) in [
      ("0", 0), ("-12", -12), ("+12", 12), ("0x1F", 31), ("0o17", 15), ("0123", 123), ("!!int '7'", 7),
    ] {
      #expect(try value(text) as? Int == number, "\(text)")
    }
    #expect(try value("18446744073709551615") as? UInt64 == .max)
    #expect(try value("0xFFFFFFFFFFFFFFFF") as? UInt64 == .max)
    let reals = [
      ("1.5", 1.5), (".5", 0.5), ("1.", 1), ("-1e3", -1000), ("1E-2", 0.01), ("!!float 2", 2),
      ("99999999999999999999", 1e20),
    ]
    for (text, number) in reals { #expect(try value(text) as? Double == number, "\(text)") }
    #expect(try value("[1, 2.5]") as? [Double] == [1, 2.5])
  }

  @Test(arguments: ["~", "null", "Null", "NULL", "", "!!null ''"])
  func nullsTakeBackTheValueOfAnEarlierSource(text: String) throws {
    let manager = ConfigurationManager()
    try manager.addSource(Values(items("a: 1\nb: 1")))
    try manager.addSource(Values(items("a: \(text)")))
    #expect(!manager.hasValue(key: "a"))
    #expect(try manager.getValue(Int.self, key: "b") == 1)
  }

  @Test func aliasesAndMergeKeysAreExpanded() throws {
    let text = """
      base: &base {host: a, port: 1}
      other: &other {port: 2, tls: true}
      one: {<<: *base, port: 3}
      two: {<<: [*base, *other]}
      list: &list [1, 2]
      same: *list
      "<<": text
      """
    #expect(
      try values(text).dropFirst(4) == [
        "one.port=3", "one.host=a", "two.host=a", "two.port=1", "two.tls=true", "list=[1, 2]", "same=[1, 2]", "<<=text",
      ])
  }

  @Test(arguments: [
    ("a: [1, 2", 1, nil), ("a: 1\n b: 2", 2, nil), ("a:\n\t- 1", 2, nil), ("a: @x", 1, 4), ("a: 'x", 1, nil),
    ("a: \"\\q\"", 1, nil),
    ("a: 1\n---\nb: 2\n", 2, 1), ("[1]: 2", 1, 1), ("? {a: 1}\n: 2", 1, 3), ("a: 1\nb: *x", 2, 4), ("a: &x [*x]", 1, 8),
    ("a: &x {<<: *x}", 1, 12), ("a: {<<: 1}", 1, 5), ("a: {<<: [{}, 1]}", 1, 5), ("&x a: 1", 1, 1), ("!x a: 1", 1, 1),
    ("*x : 1", 1, 1),
    ("a: \u{1}", 1, 4),
  ])
  func faultsOfSyntaxNameTheirPlace(text: String, line: Int, column: Int?) throws {
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    #expect(fault.code == .conversionFailed)
    #expect(fault.origin?.file == "shop.yaml" && fault.origin?.line == line, "\(fault)")
    if let column { #expect(fault.origin?.column == column, "\(fault)") }
  }

  @Test func faultsOfValuesAreFoundAtOnce() throws {
    let text = """
      a: .inf
      b: -.INF
      c: .nan
      d: !!int x
      e: !x 1
      f: !!set {g}
      h: [1, ~]
      i: 1
      i: 2
      j: 1e999
      k: 0xFFFFFFFFFFFFFFFFF
      l: !!seq {a: 1}
      "": 1
      """
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    let faults = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.compactMap { $0.origin?.line } == [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13], "\(fault)")
    #expect(faults.contains { $0.message.contains("'e' has the tag '!x'") })
    #expect(faults.contains { $0.message.contains("'i' is given twice, in line 8 and in line 9") })
  }

  @Test func bytesThatAreNotUTF8AreRefused() throws {
    for bytes in [[0x61, 0x3A, 0x20, 0xFF], [0xFF, 0xFE, 0x61, 0x00]] as [[UInt8]] {
      let fault = try #require(throws: EnvironmentError.self) { try YAMLText.items(from: bytes, path: "x") }
      #expect(fault.message.contains("UTF-8"))
    }
  }

  /// Nine lists, each with nine times the one before: 387,420,489 values.
  @Test func aliasesThatMultiplyAreRefusedUnexpanded() throws {
    var text = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    for (name, last) in zip("bcdefghi", "abcdefgh") {
      text += "\(name): &\(name) [\(Array(repeating: "*\(last)", count: 9).joined(separator: ", "))]\n"
    }
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    #expect(fault.message.contains("1000000 values"), "\(fault)")
  }

  @Test func depthIsLimitedAlsoThroughAliases() throws {
    func nested(_ depth: Int) -> String {
      "a: " + String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }
    #expect(try items(nested(255)).count == 255)
    for text in [nested(256), nested(100_000)] {
      let fault = try #require(throws: EnvironmentError.self) { try items(text) }
      #expect(fault.message.contains("nested"), "\(fault)")
    }
    var text = "a0: &a0 {x: 1}\n"
    for number in 1...300 { text += "a\(number): &a\(number) {x: *a\(number - 1)}\n" }
    let fault = try #require(throws: EnvironmentError.self) { try items(text) }
    #expect(fault.message.contains("nested"), "\(fault)")
  }
}

private final class Values: ConfigurationSource {
  let url = "values"
  let canOverrule = true
  private let items: [ConfigurationItem]

  init(_ items: [ConfigurationItem]) { self.items = items }

  func load(_ manager: ConfigurationManager) throws {
    for item in items { try manager.configurationAdded(item, source: self) }
  }
}
