import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

/// Values that are read at each use.
@Suite struct ConfigurationValueTests {
  private let manager = ConfigurationManager()
  private let file = FixedSource("file", canOverrule: true, ["port": 1, "mail.host": "a", "mail.port": 25])

  private struct Mail: Decodable, Sendable, Equatable {
    let host: String
    let port: Int
  }

  private func set(_ key: String, _ value: any Sendable) throws {
    try manager.configurationChanged(ConfigurationItem(key: key, value: value), source: file)
  }

  @Test func aValueFollowsItsKey() throws {
    try manager.addSource(file)
    let child = ConfigurationManager(parent: manager)
    let port = try child.currentValue(Int.self, key: "port")
    let other = try child.currentValue(Int?.self, key: "other")
    #expect(port.value == 1 && other.value == nil)
    try set("port", "2")
    try set("other", 3)
    #expect(port.value == 2 && other.value == 3)
    let own = FixedSource("own", ["port": 9])
    try child.addSource(own)
    #expect(port.value == 9)
    child.configurationRemoved(key: "port", source: own)
    #expect(port.value == 2)
  }

  @Test func aSectionFollowsItsKeys() throws {
    try manager.addSource(file)
    let mail = try manager.currentConfiguration(Mail.self, prefix: "mail")
    #expect(mail.value == Mail(host: "a", port: 25))
    try manager.configurationReplaced(
      with: [.init(key: "mail.host", value: "b"), .init(key: "mail.port", value: 26)], source: file)
    #expect(mail.value == Mail(host: "b", port: 26))
  }

  @Test func theLastValidValueStays() throws {
    try manager.addSource(file)
    let mail = try manager.currentConfiguration(Mail.self, prefix: "mail")
    try set("mail.port", "many")
    #expect(mail.value == Mail(host: "a", port: 25))
    manager.configurationRemoved(key: "mail.host", source: file)
    #expect(mail.value == Mail(host: "a", port: 25))
    try set("mail.host", "c")
    try set("mail.port", 27)
    #expect(mail.value == Mail(host: "c", port: 27))
  }

  @Test func theFirstValueHasToBeValid() throws {
    try manager.addSource(file)
    #expect(code { _ = try manager.currentValue(Int.self, key: "prot") } == .missingConfiguration)
    #expect(code { _ = try manager.currentValue(Int.self, key: "mail.host") } == .conversionFailed)
    #expect(code { _ = try manager.currentConfiguration([Mail].self, prefix: "mail.host") } != nil)
  }
}
