import Beans
import BeansJSON
import BeansYAML
import Testing

/// A reader of text gets the text of the file.
@Suite(.timeLimit(.minutes(20))) struct SpellingTests {
  private enum Version: String, CaseIterable { case old = "1.1", new = "1.10" }

  private struct Parcel: Decodable, Equatable {
    let zip: String
    let weight: Double
    let codes: [String]
  }

  private func yaml(_ text: String) throws -> ConfigurationManager {
    try manager(YAMLText.items(from: Array(text.utf8), path: "shop.yaml"))
  }

  private func json(_ text: String) throws -> ConfigurationManager {
    try manager(JSONText.items(from: Array(text.utf8), path: "shop.json"))
  }

  private func manager(_ items: [ConfigurationItem]) throws -> ConfigurationManager {
    let (manager, source) = (ConfigurationManager(), Items(items))
    try manager.addSource(source)
    return manager
  }

  @Test(
    "A number of YAML that is read as text is what the file says",
    arguments: ["01234", "1.10", "0510210600", "123456789012345678901234567890", "0x1F", "1e3", "+5", "-0"])
  func yamlNumbers(text: String) throws {
    let manager = try yaml("key: \(text)\n")
    #expect(try manager.getValue(String.self, key: "key") == text)
    #expect(try manager.getValue(String?.self, key: "key") == text)
    #expect(try manager.resolve("<${key}>") == "<\(text)>")
    #expect(try manager.getValue(Double.self, key: "key").isFinite)
  }

  @Test(
    "A number of JSON that is read as text is what the file says", arguments: ["1.0", "1e2", "100000000000000000000"])
  func jsonNumbers(text: String) throws {
    let manager = try json("{\"key\": \(text)}")
    #expect(try manager.getValue(String.self, key: "key") == text)
    #expect(try manager.resolve("${key}") == text)
  }

  @Test("The elements of a list keep their texts, also of whole and other numbers together")
  func lists() throws {
    let manager = try json("{\"numbers\": [1, 2.5], \"whole\": [1, 2]}")
    #expect(try manager.getValue([String].self, key: "numbers") == ["1", "2.5"])
    #expect(try manager.getValue([Double].self, key: "numbers") == [1, 2.5])
    #expect(try manager.getValue([Int].self, key: "whole") == [1, 2])
    #expect(try manager.getValue(Set<String>.self, key: "whole") == ["1", "2"])
    #expect(try manager.getValue(String.self, key: "numbers") == "1,2.5")
    #expect(try yaml("codes: [007, 010]").getValue([String].self, key: "codes") == ["007", "010"])
  }

  @Test("A number is a number for its readers")
  func numbers() throws {
    let manager = try yaml("whole: 01234\nother: 1.10\nflag: 1\nsize: 4096\nlarge: 1.5e3\n")
    #expect(try manager.getValue(Int.self, key: "whole") == 1234)
    #expect(try manager.getValue(UInt8.self, key: "flag") == 1)
    #expect(try manager.getValue(Double.self, key: "other") == 1.1)
    #expect(try manager.getValue(Double.self, key: "whole") == 1234)
    #expect(try manager.getValue(Int.self, key: "large") == 1500)
    #expect(try manager.getValue(Bool.self, key: "flag"))
    #expect(try manager.getValue(ByteCount.self, key: "size") == ByteCount(4096))
    #expect(try manager.getValue((any Sendable).self, key: "whole") as? Int == 1234)
    let fault = #expect(throws: EnvironmentError.self) { try manager.getValue(Int.self, key: "other") }
    #expect(fault?.message.contains("'1.10' (Double)") == true, "\(String(describing: fault))")
  }

  @Test("Sections and enums get the text, too")
  func sections() throws {
    let manager = try yaml("version: 1.10\nparcel:\n  zip: 01234\n  weight: 2\n  codes: [01, 2]\n")
    #expect(try manager.getValue(Version.self, key: "version") == .new)
    #expect(
      try manager.getConfiguration(Parcel.self, prefix: "parcel")
        == Parcel(zip: "01234", weight: 2, codes: ["01", "2"]))
  }

  @Test("A registered conversion of the number has precedence")
  func registered() throws {
    let manager = try yaml("key: 007\n")
    manager.conversions.register(Int.self, targetType: String.self) { "number \($0)" }
    #expect(try manager.getValue(String.self, key: "key") == "number 7")
  }

  @Test("The report contains the text of the file")
  func report() throws {
    #expect(try yaml("zip: 01234\n").report().contains("01234"))
  }
}

private final class Items: ConfigurationSource {
  private let items: [ConfigurationItem]
  let url = "items"
  let canOverrule = true
  init(_ items: [ConfigurationItem]) { self.items = items }
  func load(_ manager: ConfigurationManager) throws {
    for item in items { try manager.configurationAdded(item, source: self) }
  }
}
