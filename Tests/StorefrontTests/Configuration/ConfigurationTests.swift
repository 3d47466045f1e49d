import Beans
import Testing

@testable import Storefront

@Suite struct ConfigurationTests {
  private func read(_ variables: [String: String], processors: Int = 4) throws -> Configuration {
    let manager = ConfigurationManager()
    try manager.addSource(Configuration.source(variables))
    return try Configuration(manager, processors: processors, temporaryFolder: "/tmp/shop")
  }

  @Test func hasDefaults() throws {
    let configuration = try read(["PATH": "/bin", "PORT": ""])
    #expect(configuration.host == "127.0.0.1")
    #expect(configuration.port == 8080)
    #expect(configuration.database == "/tmp/shop/storefront.sqlite")
    #expect(configuration.sessionIdle == .seconds(1800))
    #expect(configuration.loops == 4)
    #expect(!configuration.byHand && !configuration.accessLog)
    #expect(configuration.sessions == 100_000)
    #expect(configuration.storeWait == .seconds(2))
    #expect(!configuration.secureCookies)
    #expect(configuration.adminPort == nil)
    #expect(configuration.redis == nil)
  }

  @Test func readsEveryVariable() throws {
    let configuration = try read([
      "HOST": "::1", "PORT": "0", "DATABASE": "shop.db", "SESSION_IDLE": "250ms", "LOOPS": "2",
      "BY_HAND": "yes", "SESSIONS": "7", "STORE_WAIT": "0", "SECURE_COOKIES": "yes", "ADMIN_PORT": "0",
      "REDIS": "10.0.0.7:6379", "ACCESS_LOG": "yes",
    ])
    #expect(configuration.redis?.host == "10.0.0.7")
    #expect(configuration.redis?.port == 6379)
    #expect(configuration.sessions == 7)
    #expect(configuration.storeWait == .zero)
    #expect(configuration.secureCookies)
    #expect(configuration.adminPort == 0)
    #expect(configuration.host == "::1")
    #expect(configuration.port == 0)
    #expect(configuration.database == "shop.db")
    #expect(configuration.sessionIdle == .milliseconds(250))
    #expect(configuration.loops == 2)
    #expect(configuration.byHand && configuration.accessLog)
  }

  @Test(arguments: [
    ("PORT", "http"), ("PORT", "-1"), ("PORT", "65536"), ("PORT", "80 "), ("PORT", "+80"), ("PORT", "8o"),
    ("HOST", "localhost"), ("HOST", "1.2.3"), ("HOST", "256.0.0.1"), ("HOST", "[::1]"), ("HOST", "0.0.0.0:80"),
    ("HOST", "127.0.0.1\0x"), ("REDIS", "127.0.0.1\0x:6379"), ("REDIS", "[::1\0]:6379"),
    ("DATABASE", "/tmp/"), ("DATABASE", "a\u{0}b"),
    ("SESSION_IDLE", "0"), ("SESSION_IDLE", "0ms"), ("SESSION_IDLE", "-5s"), ("SESSION_IDLE", "5 s"),
    ("SESSION_IDLE", "1.5s"), ("SESSION_IDLE", "s"), ("SESSION_IDLE", "5d"), ("SESSION_IDLE", "9999999999999999h"),
    ("LOOPS", "0"), ("LOOPS", "257"), ("LOOPS", "many"), ("BY_HAND", "1"), ("ACCESS_LOG", "on"),
    ("SESSIONS", "0"), ("SESSIONS", "many"), ("STORE_WAIT", "soon"), ("SECURE_COOKIES", "on"), ("ADMIN_PORT", "http"),
    ("ADMIN_PORT", "+80"), ("REDIS", "127.0.0.1"), ("REDIS", "redis:6379"), ("REDIS", "::1:6379"), ("REDIS", "[::1]"),
    ("REDIS", "[127.0.0.1]:1"), ("REDIS", "127.0.0.1:0"), ("REDIS", "127.0.0.1:65536"), ("REDIS", ":6379"),
  ])
  func refusesBadValues(name: String, value: String) {
    let faults = #expect(throws: ConfigurationFaults.self) { try read([name: value]) }
    #expect(faults?.lines.count == 1)
    #expect(faults?.lines.first?.hasPrefix("\(name)=") == true)
  }

  @Test func takesAServerByIPv6() throws {
    let address = try #require(try read(["REDIS": "[::1]:6380"]).redis)
    #expect((address.host, address.port) == ("::1", 6380))
  }

  @Test func refusesAllBadValuesAtOnce() {
    let faults = #expect(throws: ConfigurationFaults.self) {
      try read(["PORT": "x", "HOST": "y", "SESSION_IDLE": "z\nPORT=1", "LOOPS": "0", "DATABASE": "ok"])
    }
    #expect(faults?.lines.count == 4)
    #expect(faults?.description.split(separator: "\n").count == 4)
    #expect(faults?.lines.contains { $0 == "PORT=\"x\" is refused: it must be a port number from 0 to 65535" } == true)
  }

  @Test func doesNotTakeMoreLoopsThanAllowed() throws {
    #expect(try read([:], processors: 1000).loops == 256)
    #expect(try read([:], processors: 0).loops == 1)
  }

  @Test(arguments: [("90", 90_000), ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("0", 0)])
  func readsDurations(text: String, milliseconds: Int) {
    #expect(DurationText.parse(text) == .milliseconds(milliseconds))
  }

  @Test func writesAddressesForURLs() {
    #expect(HostAddress.forURL("0.0.0.0") == "127.0.0.1")
    #expect(HostAddress.forURL("::") == "[::1]")
    #expect(HostAddress.forURL("fe80::1") == "[fe80::1]")
    #expect(HostAddress.forURL("10.0.0.1") == "10.0.0.1")
  }
}
