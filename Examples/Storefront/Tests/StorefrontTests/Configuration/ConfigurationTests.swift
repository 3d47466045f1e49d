import Beans
import Foundation
import Testing

@testable import Storefront

@Suite struct ConfigurationTests {
  private func read(_ variables: [String: String], arguments: [String] = [], processors: Int = 4) throws
    -> Configuration
  {
    try Configuration.read(
      in: Environment(name: "test"),
      variables: ProcessInfoConfigurationSource(variables: variables, ignoresEmpty: true),
      arguments: CommandLineConfigurationSource(arguments: arguments, flags: Configuration.flags),
      processors: processors, temporaryFolder: "/tmp/shop")
  }

  private func faults(_ variables: [String: String], arguments: [String] = []) throws -> [String] {
    let error = try #require(
      #expect(throws: EnvironmentError.self) { try read(variables, arguments: arguments) })
    return ConfigurationFaults(error).lines
  }

  @Test func theConfigurationHasDefaults() throws {
    let configuration = try read(["PATH": "/bin", "PORT": ""])
    #expect(configuration.host.text == "127.0.0.1")
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

  @Test func theConfigurationReadsEveryVariable() throws {
    let configuration = try read([
      "HOST": "::1", "PORT": "0", "DATABASE": "shop.db", "SESSION_IDLE": "250ms", "LOOPS": "2",
      "BY_HAND": "yes", "SESSIONS": "7", "STORE_WAIT": "0s", "SECURE_COOKIES": "yes", "ADMIN_PORT": "0",
      "REDIS": "10.0.0.7:6379", "ACCESS_LOG": "yes",
    ])
    #expect(configuration.redis?.host == "10.0.0.7")
    #expect(configuration.redis?.port == 6379)
    #expect(configuration.sessions == 7)
    #expect(configuration.storeWait == .zero)
    #expect(configuration.secureCookies)
    #expect(configuration.adminPort == 0)
    #expect(configuration.host.text == "::1")
    #expect(configuration.port == 0)
    #expect(configuration.database == "shop.db")
    #expect(configuration.sessionIdle == .milliseconds(250))
    #expect(configuration.loops == 2)
    #expect(configuration.byHand && configuration.accessLog)
  }

  @Test(arguments: [
    ("PORT", "http"), ("PORT", "-1"), ("PORT", "65536"), ("PORT", "8o"),
    ("HOST", "localhost"), ("HOST", "1.2.3"), ("HOST", "256.0.0.1"), ("HOST", "[::1]"), ("HOST", "0.0.0.0:80"),
    ("HOST", "127.0.0.1\0x"), ("REDIS", "127.0.0.1\0x:6379"), ("REDIS", "[::1\0]:6379"),
    ("SESSION_IDLE", "90"), ("SESSION_IDLE", "s"), ("SESSION_IDLE", "9999999999999999h"),
    ("LOOPS", "many"), ("BY_HAND", "2"), ("ACCESS_LOG", "perhaps"),
    ("SESSIONS", "many"), ("STORE_WAIT", "soon"), ("SECURE_COOKIES", "ja"), ("ADMIN_PORT", "http"),
    ("REDIS", "127.0.0.1"), ("REDIS", "redis:6379"), ("REDIS", "::1:6379"), ("REDIS", "[::1]"),
    ("REDIS", "[127.0.0.1]:1"), ("REDIS", "127.0.0.1:0"), ("REDIS", "127.0.0.1:65536"), ("REDIS", ":6379"),
  ])
  func theConfigurationRefusesBadValues(name: String, value: String) throws {
    let lines = try faults([name: value])
    #expect(lines.count == 1)
    #expect(lines.first?.contains("environment variables") == true, "\(lines)")
  }

  @Test(arguments: [
    ("DATABASE", "/tmp/"), ("DATABASE", "a\u{0}b"), ("SESSION_IDLE", "0"), ("SESSION_IDLE", "-5s"),
    ("STORE_WAIT", "-1s"),
    ("LOOPS", "0"), ("LOOPS", "257"), ("SESSIONS", "0"),
  ])
  func theConfigurationRefusesValuesOutOfRange(name: String, value: String) throws {
    let lines = try faults([name: value])
    #expect(lines.count == 1)
    let key = KeyName(name).text
    #expect(lines.first?.contains("\(key) must") == true, "\(lines)")
  }

  /// The name of a setting for that of its variable: `sessionIdle` for `SESSION_IDLE`.
  private struct KeyName {
    let text: String
    init(_ variable: String) {
      let words = variable.lowercased().split(separator: "_")
      text = words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
    }
  }

  @Test func theConfigurationAcceptsAServerByIPv6() throws {
    let address = try #require(try read(["REDIS": "[::1]:6380"]).redis)
    #expect((address.host, address.port) == ("::1", 6380))
  }

  @Test func theConfigurationRefusesAllBadValuesAtOnce() throws {
    let lines = try faults(["PORT": "x", "HOST": "y", "SESSION_IDLE": "z\nPORT=1", "LOOPS": "no", "DATABASE": "ok"])
    #expect(lines.count == 4)
    #expect(ConfigurationFaults(lines: lines).description.split(separator: "\n").count == 4)
    #expect(
      lines.contains(
        "configuration value 'PORT' of environment variables: cannot convert 'x' (String) to UInt16: "
          + "expected an integer from 0 to 65535"
      ), "\(lines)")
  }

  // MARK: sources

  @Test func optionsOverrideVariables() throws {
    let configuration = try read(
      ["PORT": "81", "LOOPS": "3", "SESSION_IDLE": "5m"],
      arguments: ["shop", "--port", "82", "--session-idle=6m", "--access-log", "--by-hand", "--secure-cookies=no"])
    #expect(configuration.port == 82)
    #expect(configuration.loops == 3)
    #expect(configuration.sessionIdle == .seconds(360))
    #expect(configuration.accessLog && configuration.byHand && !configuration.secureCookies)
  }

  @Test func variablesOverrideAFile() throws {
    let file = try TemporaryFile(
      #"{"port": 8081, "sessionIdle": "5m", "redis": "[::1]:6379", "beans": {"profiles": ["test", "eu"]}}"#)
    for (variables, arguments) in [(["CONFIG": file.path], []), ([:], ["--config", file.path])] {
      let configuration = try read(variables.merging(["SESSION_IDLE": "7m"]) { $1 }, arguments: arguments)
      #expect(configuration.port == 8081)
      #expect(configuration.sessionIdle == .seconds(420))
      #expect(configuration.redis?.host == "::1")
      #expect(configuration.beans?.profiles == ["test", "eu"])
    }
  }

  @Test func aMissingFileIsRefused() throws {
    let lines = try faults([:], arguments: ["--config=/nowhere/shop.json"])
    #expect(lines.count == 1 && lines.first?.contains("/nowhere/shop.json") == true)
  }

  @Test func unknownKeysAreRefused() throws {
    let file = try TemporaryFile("{\n  \"prot\": 8081,\n  \"sessions\": \"many\"\n}")
    let lines = try faults(["UNKNOWN": "1"], arguments: ["--config", file.path, "--lops=2"])
    #expect(lines.count == 3)
    for part in [
      "'prot' of \(file.path):2", "did you mean 'port'", "'sessions' of \(file.path):3", "'lops' of command line",
    ] {
      #expect(lines.contains { $0.contains(part) }, "\(part): \(lines)")
    }
  }

  @Test func theNumberOfLoopsIsLimited() throws {
    #expect(try read([:], processors: 1000).loops == 256)
    #expect(try read([:], processors: 0).loops == 1)
  }

  @Test func addressesAreWrittenForURLs() {
    #expect(HostAddress("0.0.0.0")?.forURL == "127.0.0.1")
    #expect(HostAddress("::")?.forURL == "[::1]")
    #expect(HostAddress("fe80::1")?.forURL == "[fe80::1]")
    #expect(HostAddress("10.0.0.1")?.forURL == "10.0.0.1")
  }
}

/// A file that is removed with its object.
private final class TemporaryFile {
  let path: String

  init(_ text: String) throws {
    path = NSTemporaryDirectory() + "storefront-\(UUID().uuidString).json"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
