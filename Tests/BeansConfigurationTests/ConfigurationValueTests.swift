import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

/// Values that are read at each use.
@Suite struct ConfigurationValueTests {
  private let manager = ConfigurationManager()
  private let file = FixedSource("file", canOverrule: true, ["port": 1, "host": "a"])

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
    try child.configurationReplaced(with: [], source: own)
    #expect(port.value == 2)
  }

  @Test func theLastValidValueStays() throws {
    try manager.addSource(file)
    let port = try manager.currentValue(Int.self, key: "port")
    try set("port", "many")
    #expect(port.value == 1)
    try manager.configurationReplaced(with: [], source: file)
    #expect(port.value == 1)
    try set("port", 27)
    #expect(port.value == 27)
  }

  @Test func theFirstValueHasToBeValid() throws {
    try manager.addSource(file)
    #expect(code { _ = try manager.currentValue(Int.self, key: "prot") } == .missingConfiguration)
    #expect(code { _ = try manager.currentValue(Int.self, key: "host") } == .conversionFailed)
  }
}
