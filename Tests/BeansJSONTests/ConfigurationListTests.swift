import Beans
import BeansJSON
import TestSupport
import Testing

/// A list is one value of the last source that has it; a later source may change one value of an element.
@Suite struct ConfigurationListTests {
  private struct Server: Decodable, Equatable {
    var host: String?
    var port: Int
  }

  private let folder: TemporaryDirectory
  private let manager = ConfigurationManager()

  init() throws { folder = try TemporaryDirectory() }

  private func load(_ text: String, as name: String = "settings.json") throws {
    try manager.addSource(JSONConfigurationSource(path: folder.write(name, text)))
  }

  private func setVariables(_ variables: [String: String]) throws {
    try manager.addSource(ProcessInfoConfigurationSource(variables: variables))
  }

  private func servers() throws -> [Server] { try manager.getValue([Server].self, key: "servers") }

  private func loadTwoFiles() throws {
    try load(#"{"servers": [{"host": "a", "port": 1}, {"host": "b", "port": 2}]}"#, as: "first.json")
    try load(#"{"servers": [{"port": 9}]}"#, as: "second.json")
  }

  @Test func aListOfObjectsReplacesTheEarlierOne() throws {
    try loadTwoFiles()
    #expect(try servers() == [Server(port: 9)])
    #expect(try manager.getConfiguration([Server].self, prefix: "servers") == [Server(port: 9)])
    #expect(try manager.getConfiguration([String: [Server]].self) == ["servers": [Server(port: 9)]])
    #expect(!manager.hasValue(key: "servers.0.host"))
    #expect(!manager.hasValue(key: "servers.1.port"))
    #expect(try manager.getValue(Int.self, key: "servers.0.port") == 9)
    #expect(try manager.resolve("${servers.0.host=none} ${servers.0.port}") == "none 9")
  }

  @Test func hiddenElementsAreNoUnknownKeys() throws {
    struct Section: Decodable { let servers: [Server] }
    try setVariables(["SERVERS_1_PORT": "8"])
    try loadTwoFiles()
    let section = try manager.getConfiguration(Section.self, rejectsUnknownKeys: true)
    #expect(section.servers == [Server(port: 9)])
  }

  @Test func aListOfTextsReplacesObjectsAndTheReverse() throws {
    try load(#"{"a": [{"port": 1}, {"port": 2}], "b": ["x", "y"], "c": [{"port": 1}], "d": [{"port": 1}]}"#)
    try load(#"{"a": ["x"], "b": [{"port": 3}], "c": [], "d": null}"#, as: "second.json")
    #expect(try manager.getValue([String].self, key: "a") == ["x"])
    #expect(!manager.hasValue(key: "a.1.port"))
    #expect(try manager.getValue([Server].self, key: "b") == [Server(port: 3)])
    #expect(try manager.getValue([Server].self, key: "c") == [])
    #expect(try manager.getValue([Server]?.self, key: "d") == nil)
    #expect(!manager.hasValue(key: "d.0.port"))
  }

  @Test func listsInElementsBelongToTheElement() throws {
    struct Host: Decodable, Equatable { let routes: [Server]? }
    try load(#"{"hosts": [{"routes": [{"port": 1}, {"port": 2}]}, {"routes": [{"port": 3}]}]}"#)
    try load(#"{"hosts.0": {"routes": [{"port": 4}]}}"#, as: "second.json")
    let hosts = try manager.getValue([Host].self, key: "hosts")
    #expect(hosts == [Host(routes: [Server(port: 4)]), Host(routes: [Server(port: 3)])])
  }

  @Test func aVariableChangesOneValueOfAnElement() throws {
    try loadTwoFiles()
    try setVariables(["SERVERS_0_PORT": "10"])
    #expect(try servers() == [Server(port: 10)])
  }

  @Test func anEarlierVariableIsHidden() throws {
    try setVariables(["SERVERS_0_HOST": "v", "SERVERS_1_PORT": "10"])
    try loadTwoFiles()
    #expect(try servers() == [Server(port: 9)])
  }

  @Test func aVariableAppendsTheNextElement() throws {
    try loadTwoFiles()
    try setVariables(["SERVERS_1_PORT": "10"])
    #expect(try servers() == [Server(port: 9), Server(port: 10)])
  }

  @Test func aVariableThatLeavesAGapIsAFault() throws {
    try loadTwoFiles()
    try setVariables(["SERVERS_2_PORT": "10"])
    let fault = try #require(throws: EnvironmentError.self) { _ = try servers() }
    #expect(fault.message == "the list 'servers' has an element 2, and none 1")
  }

  @Test(arguments: [
    ("S_A_0", ["v", "y", "z"]), ("S_A_2", ["x", "y", "v"]), ("S_A_3", ["x", "y", "z", "v"]),
    ("s.a.1", ["x", "v", "z"]), ("S_A", ["v"]),
  ])
  func aVariableChangesAListOfTexts(name: String, expected: [String]) throws {
    struct Section: Decodable { let a: [String] }
    try load(#"{"s": {"a": ["x", "y", "z"]}}"#)
    try setVariables([name: "v"])
    #expect(try manager.getValue([String].self, key: "s.a") == expected)
    #expect(try manager.getValue(Set<String>.self, key: "s.a") == Set(expected))
    #expect(try manager.getConfiguration(Section.self, prefix: "s").a == expected)
    #expect(try manager.resolve("${s.a.0=none}") == (name == "S_A_0" ? "v" : "none"))
  }

  @Test func aVariableBehindAListOfTextsLeavesNoGap() throws {
    try load(#"{"s": {"a": ["x", "y", "z"]}}"#)
    try setVariables(["S_A_4": "v"])
    let fault = try #require(throws: EnvironmentError.self) { _ = try manager.getValue([String].self, key: "s.a") }
    #expect(fault.message == "the list 's.a' has an element 4, and none 3")
  }

  @Test func theCommandLineChangesElements() throws {
    try load(#"{"servers": [{"host": "a", "port": 1}], "ports": [1, 2]}"#)
    try manager.addSource(CommandLineConfigurationSource(arguments: ["p", "--servers.0.port=5", "--ports.1=7"]))
    #expect(try servers() == [Server(host: "a", port: 5)])
    #expect(try manager.getValue([Int].self, key: "ports") == [1, 7])
  }

  /// A child's list is whole, too.
  @Test func theNearestEnvironmentHasTheList() throws {
    try loadTwoFiles()
    let child = ConfigurationManager(parent: manager)
    try child.addSource(
      JSONConfigurationSource(path: folder.write("child.json", #"{"servers": [{"host": "c", "port": 3}]}"#)))
    #expect(try child.getValue([Server].self, key: "servers") == [Server(host: "c", port: 3)])
    let other = ConfigurationManager(parent: manager)
    try other.addSource(JSONConfigurationSource(path: folder.write("other.json", #"{"servers.0.host": "o"}"#)))
    #expect(try other.getValue([Server].self, key: "servers") == [Server(host: "o", port: 9)])
  }

  @Test func aSourceOfOnesOwnHasLists() throws {
    final class Source: ConfigurationSource {
      let url: String
      let canOverrule = true
      let ports: [Int]
      init(_ url: String, _ ports: [Int]) { (self.url, self.ports) = (url, ports) }
      func load(_ manager: ConfigurationManager) throws {
        try manager.configurationAdded(.list(key: "servers", count: ports.count), source: self)
        for (index, port) in ports.enumerated() {
          try manager.configurationAdded(.init(key: "servers.\(index).port", value: port), source: self)
        }
      }
    }
    try manager.addSource(Source("first", [1, 2, 3]))
    try manager.addSource(Source("second", [4]))
    #expect(try servers() == [Server(port: 4)])
  }

  @Test func theReportNamesTheListThatHidesAnElement() throws {
    try loadTwoFiles()
    let lines = manager.report().split(separator: "\n").filter { $0.contains("servers") }
    func line(_ start: String) -> Substring? {
      lines.first { $0.trimmingPrefix(while: \.isWhitespace).hasPrefix(start) }
    }
    let second = "\(folder.path)/second.json (servers)"
    #expect(line("servers = (a list of 2 elements)")?.hasSuffix("overruled by: \(folder.path)/second.json") == true)
    #expect(line("servers = (a list of 1 element)")?.hasSuffix("element)") == true)
    #expect(line("servers.1.port")?.hasSuffix("overruled by: \(second)") == true)
    #expect(line("servers.0.port = '9'")?.hasSuffix("'9'") == true)
  }

  /// A listener of an element is called when the source that hid it loses its list.
  @Test func reloadOfAListShowsTheEarlierOne() throws {
    let second = ConfigurationItem.list(key: "servers", count: 0)
    let source = JSONConfigurationSource(path: try folder.write("second.json", "{}"))
    try load(#"{"servers": [{"port": 1}]}"#)
    try manager.addSource(source)
    try manager.configurationReplaced(with: [second], source: source)
    let ports = Journal()
    manager.addListener(Int.self, key: "servers.0.port") { ports.note("\($0)") }
    #expect(!manager.hasValue(key: "servers.0.port"))
    try manager.configurationReplaced(with: [], source: source)
    #expect(ports.entries == ["1"])
    #expect(try servers() == [Server(port: 1)])
  }
}
