import TestSupport
import BeansErrors
import Testing

@testable import BeansConfiguration

@Suite struct PlaceholderTests {
  private let manager = ConfigurationManager()

  init() throws {
    try manager.addSource(
      FixedSource(
        "test",
        [
          ConfigurationItem(key: "host", value: "example.org"), ConfigurationItem(key: "port", value: 80),
          ConfigurationItem(namespace: "shop", key: "mail", value: "m@x"),
          ConfigurationItem(key: "which", value: "port"),
          ConfigurationItem(key: "raw", value: "${host}"), ConfigurationItem(key: "empty", value: ""),
          ConfigurationItem(key: "list", value: [1, 2]), ConfigurationItem(key: "engine", value: Engine()),
        ]))
  }

  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("${host}", "example.org"), ("${port}", "80"), ("${shop:mail}", "m@x"),
    ("http://${host}:${port}/", "http://example.org:80/"), ("${none=x}", "x"), ("${none=}", ""), ("a${none=}b", "ab"),
    ("${none=${host}}", "example.org"), ("${none=${nope=${port}}!}", "80!"), ("${${which}}", "80"),
    ("${${nope=host}}", "example.org"), ("${none=a=b}", "a=b"), ("${none:k=v}", "v"), ("${none=a:b}", "a:b"),
    ("${ host }", "example.org"), ("${host=${not even looked for}}", "example.org"), ("${empty}", ""),
    ("$", "$"), ("5$ and $x", "5$ and $x"), ("$$", "$$"), ("$${host}", "${host}"), ("a$${b}${port}", "a${b}80"),
    ("}{", "}{"), ("{${port}}", "{80}"), ("${none={\"a\": {}}}", "{\"a\": {}}"), ("${none=$${x}}", "${x}"),
    ("${none=$}", "$"), ("${raw}", "example.org"), ("ä${port}€", "ä80€"), ("${list}", "1,2"), ("${none= x }", " x "),
  ])
  func placeholdersAreReplaced(text: String, expected: String) throws {
    #expect(try manager.resolve(text) == expected)
  }

  @Test(arguments: ["${none}", "a${none}b", "${shop:host}", "${none=${nope}}", "${${none}}", "${host}${none}"])
  func anUnresolvedPlaceholderIsRefused(text: String) {
    #expect(code { try manager.resolve(text) } == .unresolvedPlaceholder)
  }

  @Test func theFaultNamesTheKeyAndANearMiss() {
    let fault = #expect(throws: EnvironmentError.self) { try manager.resolve("x${shop:male}") }
    #expect(fault?.message.contains("male") == true)
    #expect(fault?.message.contains("shop:mail") == true)
  }

  @Test(arguments: ["${", "${host", "${host=", "${host=${port}", "${}", "${=x}", "${ }", "${none={}", "${a${b}"])
  func aMalformedPlaceholderIsRefused(text: String) {
    #expect(code { try manager.resolve(text) } == .invalidDeclaration)
  }

  @Test func aValueWithoutATextIsAFault() {
    #expect(code { try manager.resolve("x${engine}") } == .noConversion)
  }

  @Test func textBecomesTheWantedType() throws {
    #expect(try manager.resolve("${port}", as: Int.self) as? Int == 80)
    #expect(try manager.resolve("1${port}", as: Int.self) as? Int == 180)
    #expect(try manager.resolve("${none=1,2}", as: [Int].self) as? [Int] == [1, 2])
    // A placeholder that is the whole text needs no text value.
    #expect(try manager.resolve("${engine}", as: Engine.self) is Engine)
    #expect(code { try manager.resolve("${host}", as: Int.self) } == .conversionFailed)
    #expect(code { try manager.resolve("${host}", as: Engine.self) } == .noConversion)
  }

  // MARK: placeholders in values

  private func add(_ values: [String: any Sendable], url: String = "file") throws {
    try manager.addSource(FixedSource(url, canOverrule: true, values))
  }

  @Test func valuesMayContainPlaceholders() throws {
    try add([
      "url": "http://${host}:${port}/", "deep": "<${url}>", "default": "${none=${url}}", "number": "1${port}",
      "hosts": ["${host}", "b", "${none=c}"], "map": ["a": "${port}"], "literal": "$${host}", "dollar": "5$",
    ])
    #expect(try manager.getValue(String.self, key: "url") == "http://example.org:80/")
    #expect(try manager.getValue(String.self, key: "deep") == "<http://example.org:80/>")
    #expect(try manager.getValue(String.self, key: "default") == "http://example.org:80/")
    #expect(try manager.getValue(Int.self, key: "number") == 180)
    #expect(try manager.getValue([String].self, key: "hosts") == ["example.org", "b", "c"])
    #expect(try manager.getValue([String: Int].self, key: "map") == ["a": 80])
    #expect(try manager.getValue(String.self, key: "literal") == "${host}")
    #expect(try manager.getValue(String.self, key: "dollar") == "5$")
    #expect(try manager.resolve("${deep}!") == "<http://example.org:80/>!")
    #expect(try manager.resolve("${number}", as: Int.self) as? Int == 180)
  }

  @Test func aChildsValuesReplaceThePlaceholdersOfInheritedValues() throws {
    try add(["url": "http://${host}/"])
    let child = ConfigurationManager(parent: manager)
    try child.addSource(FixedSource("child", ["host": "child.org"]))
    #expect(try child.getValue(String.self, key: "url") == "http://child.org/")
    #expect(try manager.getValue(String.self, key: "url") == "http://example.org/")
  }

  @Test func changesOfAReferencedValueTakeEffect() throws {
    let source = FixedSource("hosts", canOverrule: true, ["name": "a"])
    try manager.addSource(source)
    try add(["url": "http://${name}/"])
    #expect(try manager.getValue(String.self, key: "url") == "http://a/")
    try manager.configurationChanged(ConfigurationItem(key: "name", value: "b"), source: source)
    #expect(try manager.getValue(String.self, key: "url") == "http://b/")
  }

  @Test func circlesAreDrawn() throws {
    try add(["a": "x${b}", "b": "${none=${c}}", "c": "${a}", "self": "${self}"])
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(String.self, key: "a") }
    #expect(fault?.code == .cyclicDependency)
    #expect(fault?.message.contains("a → b → c → a") == true, "\(fault.map { "\($0)" } ?? "")")
    #expect(code { try manager.getValue(String.self, key: "self") } == .cyclicDependency)
    #expect(code { try manager.resolve("${b}") } == .cyclicDependency)
  }

  @Test func aFaultNamesTheValueThatContainsThePlaceholder() throws {
    try manager.addSource(
      FixedSource("app.conf", [ConfigurationItem(key: "url", value: "http://${hots}/", line: 7)]))
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(String.self, key: "url") }
    #expect(fault?.code == .unresolvedPlaceholder)
    for part in ["'url' of app.conf:7", "hots", "host"] { #expect(fault?.message.contains(part) == true, "\(part)") }
    #expect(fault?.origin?.file == "app.conf")
    #expect(fault?.origin?.line == 7)
    try add(["bad": "${host"], url: "bad.conf")
    let malformed = #expect(throws: EnvironmentError.self) { try manager.getValue(String.self, key: "bad") }
    #expect(malformed?.code == .invalidDeclaration)
    #expect(malformed?.message.contains("'bad' of bad.conf") == true)
  }

  @Test func valuesThatMultiplyEndInAnError() throws {
    var values: [String: any Sendable] = ["v100": ""]
    for number in 0..<100 { values["v\(number)"] = "${v\(number + 1)}${v\(number + 1)}" }
    for number in 0..<100_000 { values["w\(number)"] = "${w\(number + 1)}" }
    try add(values)
    #expect(code { try manager.getValue(String.self, key: "v0") } == .invalidDeclaration)
    #expect(code { try manager.getValue(String.self, key: "w0") } == .invalidDeclaration)
    #expect(try manager.getValue(String.self, key: "v95").isEmpty)
  }

  @Test func aDefaultInSpringsFormIsExplained() {
    let fault = #expect(throws: EnvironmentError.self) { try manager.resolve("${a.b:127.0.0.1}") }
    #expect(fault?.code == .unresolvedPlaceholder)
    #expect(fault?.message.contains("${a.b=127.0.0.1}") == true)
  }

  @Test func hostileTextEndsInAnError() {
    let deep = String(repeating: "${a=", count: 200_000)
    #expect(code { try manager.resolve(deep) } == .invalidDeclaration)
    #expect(code { try manager.resolve(deep + String(repeating: "}", count: 200_000)) } == .invalidDeclaration)
    let allowed = PlaceholderParser.deepest
    let nested = String(repeating: "${a=", count: allowed) + "x" + String(repeating: "}", count: allowed)
    #expect((try? manager.resolve(nested)) == "x")
  }

  @Test func longTextTakesLinearTime() throws {
    func cost(_ count: Int) throws -> Duration {
      let text = String(repeating: "${none=${nope={}}$${}}$ ", count: count)
      let begun = ContinuousClock.now
      #expect(try manager.resolve(text).utf8.count == count * 7)
      return begun.duration(to: .now)
    }
    _ = try cost(100)
    let (short, long) = (try cost(2_000), try cost(32_000))
    // Sixteen times the text: quadratic time would take 256 times as long.
    #expect(long < short * 100, "\(short), \(long)")
  }
}

private final class Engine: Sendable {}
