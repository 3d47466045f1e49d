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
    ("${none=$}", "$"), ("${raw}", "${host}"), ("ä${port}€", "ä80€"), ("${list}", "1,2"), ("${none= x }", " x "),
  ])
  func replaces(text: String, expected: String) throws {
    #expect(try manager.resolve(text) == expected)
  }

  @Test(arguments: ["${none}", "a${none}b", "${shop:host}", "${none=${nope}}", "${${none}}", "${host}${none}"])
  func unresolved(text: String) {
    #expect(code { try manager.resolve(text) } == .unresolvedPlaceholder)
  }

  @Test func theFaultNamesTheKeyAndANearMiss() {
    let fault = #expect(throws: EnvironmentError.self) { try manager.resolve("x${shop:male}") }
    #expect(fault?.message.contains("male") == true)
    #expect(fault?.message.contains("shop:mail") == true)
  }

  @Test(arguments: ["${", "${host", "${host=", "${host=${port}", "${}", "${=x}", "${ }", "${none={}", "${a${b}"])
  func malformed(text: String) {
    #expect(code { try manager.resolve(text) } == .invalidDeclaration)
  }

  @Test func aValueWithoutATextIsAFault() {
    #expect(code { try manager.resolve("x${engine}") } == .noConversion)
  }

  @Test func textBecomesTheWantedType() throws {
    #expect(try manager.resolve("${port}", as: Int.self) as? Int == 80)
    #expect(try manager.resolve("1${port}", as: Int.self) as? Int == 180)
    #expect(try manager.resolve("${none=1,2}", as: [Int].self) as? [Int] == [1, 2])
    // What stands for itself need not have a text.
    #expect(try manager.resolve("${engine}", as: Engine.self) is Engine)
    #expect(code { try manager.resolve("${host}", as: Int.self) } == .conversionFailed)
    #expect(code { try manager.resolve("${host}", as: Engine.self) } == .noConversion)
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
