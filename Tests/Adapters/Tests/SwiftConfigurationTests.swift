import Beans
import Configuration
import Synchronization
import Testing

@testable import SwiftConfigurationListings

@Suite("swift-configuration") struct SwiftConfigurationTests {
  /// A source with text, one value of which changes.
  final class Source: ConfigurationSource {
    let url = "lines"
    let canOverrule = true
    private let manager = Mutex<ConfigurationManager?>(nil)

    func load(_ manager: ConfigurationManager) throws {
      self.manager.withLock { $0 = manager }
      let values = [
        "mail.host": "localhost", "mail.port": "2525", "mail.ratio": "0.5", "mail.tls": "yes",
        "mail.recipients": "ada, grace", "mail.ports.0": "1", "mail.ports.1": "2",
        "mail.url": "smtp://${mail.host}:${mail.port}",
      ]
      for (key, value) in values {
        try manager.configurationAdded(ConfigurationItem(key: key, value: value), source: self)
      }
    }

    func change(_ key: String, _ value: String) throws {
      try manager.withLock { $0 }?.configurationChanged(ConfigurationItem(key: key, value: value), source: self)
    }
  }

  /// A bean that takes a reader.
  struct Mailer {
    let host: String

    init(_ reader: ConfigReader) throws { host = try reader.requiredString(forKey: "mail.host") }
  }

  private static func key(_ key: String) -> AbsoluteConfigKey { AbsoluteConfigKey(ConfigKey(key).components) }

  private static func reader() -> ConfigReader {
    let values: [String: ConfigContent] = [
      "mail.host": .string("smtp.example.org"), "mail.port": .int(2525), "mail.recipients": .stringArray(["ada"]),
      "ratio": .double(0.5), "tls": .bool(true), "post.limit": .int(3), "ports": .intArray([1, 2]),
    ]
    let pairs = values.map { (key($0.key), ConfigValue($0.value, isSecret: false)) }
    return ConfigReader(provider: InMemoryProvider(values: Dictionary(uniqueKeysWithValues: pairs)))
  }

  @Test("A reader is a source of sections and of single values")
  func source() throws {
    let shop = try Environment()
    try declareMail(in: shop, readBy: Self.reader())
    let mail = try shop.getBean(MailSettings.self)
    #expect(mail.host == "smtp.example.org")
    #expect(mail.port == 2525)
    #expect(mail.recipients == ["ada"])
    #expect(try shop.getConfigurationValue(Double.self, key: "ratio") == 0.5)
    #expect(try shop.getConfigurationValue(Bool.self, key: "tls"))
    #expect(try shop.getConfigurationValue([Int].self, key: "ports") == [1, 2])
    #expect(try shop.getConfigurationValue(Int.self, namespace: "post", key: "limit") == 3)
    #expect(try shop.getConfigurationValue(String?.self, key: "none") == nil)
    try shop.shutdown()
  }

  @Test("A reader of secrets has its values masked in reports")
  func secrets() throws {
    let shop = try Environment()
    try shop.addConfigurationSource(ConfigReaderSource(Self.reader(), isSecret: true))
    #expect(try shop.getConfigurationValue(String.self, key: "mail.host") == "smtp.example.org")
    #expect(!shop.configurationManager.report().contains("smtp.example.org"))
    try shop.shutdown()
  }

  @Test("An environment is a provider of all types of values")
  func provider() throws {
    let shop = try Environment()
    try shop.addConfigurationSource(Source())
    try declareReader(in: shop)
    try shop.define(shop.bean(Mailer.self, factory: Mailer.init))
    #expect(try shop.getBean(Mailer.self).host == "localhost")
    let reader = try shop.getBean(ConfigReader.self)
    #expect(reader.string(forKey: "mail.url") == "smtp://localhost:2525")
    #expect(reader.int(forKey: "mail.port") == 2525)
    #expect(reader.double(forKey: "mail.ratio") == 0.5)
    #expect(reader.bool(forKey: "mail.tls") == true)
    #expect(reader.stringArray(forKey: "mail.recipients") == ["ada", "grace"])
    #expect(reader.intArray(forKey: "mail.ports") == [1, 2])
    #expect(reader.string(forKey: "mail.none") == nil)
    #expect(reader.int(forKey: "mail.host") == nil)
    var provider = BeansConfigProvider(manager: shop.configurationManager)
    let port = try provider.value(forKey: Self.key("mail.port"), type: .int).value
    #expect(port == ConfigValue(.int(2525), isSecret: true))
    provider.secrets = .specific(["mail.host"])
    #expect(try provider.value(forKey: Self.key("mail.port"), type: .int).value?.isSecret == false)
    #expect(throws: EnvironmentError.self) { try provider.value(forKey: Self.key("mail.host"), type: .int) }
    try shop.shutdown()
  }

  @Test("A watched value is followed")
  func watching() async throws {
    let shop = try Environment()
    let source = Source()
    try shop.addConfigurationSource(source)
    try declareReader(in: shop)
    let seen = try await shop.getBean(ConfigReader.self).watchString(forKey: "mail.host") { updates in
      var seen: [String?] = []
      for await host in updates {
        seen.append(host)
        if seen.count == 2 { break }
        try source.change("mail.host", "smtp.example.org")
      }
      return seen
    }
    #expect(seen == ["localhost", "smtp.example.org"])
    try await shop.shutdown()
  }
}
