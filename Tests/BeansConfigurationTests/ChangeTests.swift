import BeansErrors
import Dispatch
import TestSupport
import Testing

@testable import BeansConfiguration

/// Changes of several values at once.
@Suite struct ChangeTests {
  private let manager = ConfigurationManager()
  private let file = FixedSource("file", canOverrule: true, [:])

  /// Twenty values that belong together.
  private static let count = 20

  private struct Release: Decodable {
    let values: [Int]
    let first: Int
    let text: String
    var isWhole: Bool { values.allSatisfy { $0 == first } && text == "\(first) and \(first)" }
  }

  private func items(_ number: Int) -> [ConfigurationItem] {
    (0..<Self.count).map { ConfigurationItem(key: "release.values.\($0)", value: number) } + [
      ConfigurationItem(key: "release.first", value: number),
      ConfigurationItem(key: "release.text", value: "${release.first} and ${release.values.7}"),
    ]
  }

  @Test func aListenerSeesAllValuesOfAChange() throws {
    try manager.addSource(file)
    try manager.configurationReplaced(with: items(1), source: file)
    let seen = Seen<[Int]>()
    for number in 0..<Self.count {
      manager.addListener(Int.self, key: "release.values.\(number)") { [manager] _ in
        seen.note((0..<Self.count).map { (try? manager.getValue(Int.self, key: "release.values.\($0)")) ?? -1 })
      }
    }
    try manager.configurationReplaced(with: items(2), source: file)
    #expect(seen.all.count == Self.count)
    #expect(seen.all.allSatisfy { $0.allSatisfy { $0 == 2 } })
  }

  @Test func aReplacementKeepsEqualValuesAndRemovesMissingOnes() throws {
    let defaults = FixedSource("defaults", ["a": 0, "b": 0])
    try manager.addSource(defaults)
    try manager.addSource(file)
    try manager.configurationReplaced(
      with: [.init(key: "a", value: 1), .init(key: "b", value: "x"), .init(key: "c", value: [1, 2])], source: file)
    let calls = Seen<String>()
    for key in ["a", "b", "c"] { manager.addListener(String.self, key: key) { calls.note("\(key)=\($0)") } }
    try manager.configurationReplaced(
      with: [.init(key: "b", value: "y"), .init(key: "c", value: [1, 2]), .init(key: "c", value: [1, 2])], source: file)
    #expect(try manager.getValue(Int.self, key: "a") == 0)
    #expect(try manager.getValue(String.self, key: "b") == "y")
    #expect(Set(calls.all) == ["a=0", "b=y"])
  }

  @Test func aRefusedValueRefusesTheWholeChange() throws {
    let late = FixedSource("late", ["a": 1])
    try manager.addSource(FixedSource("defaults", ["b": 0]))
    try manager.addSource(late)
    #expect(
      code {
        try manager.configurationReplaced(with: [.init(key: "a", value: 2), .init(key: "b", value: 2)], source: late)
      } == .invalidDeclaration)
    #expect(code { try manager.configurationReplaced(with: [.init(key: "", value: 2)], source: late) } != nil)
    #expect(try manager.getValue(Int.self, key: "a") == 1)
    #expect(try manager.getValue(Int.self, key: "b") == 0)
  }

  /// Reads lists, sections and texts with placeholders, here and in a child, while another thread replaces all values.
  @Test func aReaderOfSeveralKeysGetsNoMixture() throws {
    try manager.addSource(file)
    try manager.configurationReplaced(with: items(0), source: file)
    let child = ConfigurationManager(parent: manager)
    let rounds = 300
    let done = Seen<Bool>()
    let writer = DispatchQueue(label: "writer")
    writer.async { [manager, file] in
      for number in 1...rounds { try? manager.configurationReplaced(with: items(number), source: file) }
      done.note(true)
    }
    var count = 0
    repeat {
      count += 1
      for manager in [manager, child] {
        let values = try manager.getValue([Int].self, key: "release.values")
        #expect(values.count == Self.count && Set(values).count == 1)
        #expect(try manager.getConfiguration(Release.self, prefix: "release").isWhole)
        let text = try manager.resolve("${release.values.0} ${release.values.19} ${release.text}").split(separator: " ")
        #expect(text.count == 5 && text[0] == text[1] && text[0] == text[2] && text[2] == text[4])
      }
    } while done.all.isEmpty
    writer.sync {}
    #expect(count > 1)
    #expect(try manager.getConfiguration(Release.self, prefix: "release").first == rounds)
  }

  // MARK: withdrawn values

  @Test func anAbsentValueWithdrawsEarlierOnes() throws {
    try manager.addSource(FixedSource("defaults", ["relay": "r", "port": 25, "limits.a": 1, "limits.b": 2]))
    let child = ConfigurationManager(parent: manager)
    try child.addSource(
      FixedSource("file", canOverrule: true, [.absent(key: "relay"), .absent(key: "port"), .absent(key: "limits.a")]))
    #expect(try child.getValue(String?.self, key: "relay") == nil)
    #expect(try child.getValue(Int.self, key: "port", defaultValue: 1) == 1)
    #expect(code { try child.getValue(Int.self, key: "port") } == .missingConfiguration)
    #expect(!child.hasValue(key: "port"))
    #expect(try child.getConfiguration([String: Int].self, prefix: "limits") == ["b": 2])
    #expect(try child.resolve("${relay=none}") == "none")
    #expect(try manager.getValue(String.self, key: "relay") == "r")
    #expect(child.report().contains("relay = (none)"))
    // A later source has precedence over the one that withdrew the value.
    try child.addSource(FixedSource("later", canOverrule: true, ["relay": "s"]))
    #expect(try child.getValue(String?.self, key: "relay") == "s")
  }

  // MARK: sources without lists

  /// A source with values for all keys that end with `.known`, which counts the latest one.
  private final class Reader: ConfigurationSource {
    let url = "reader"
    let canOverrule: Bool
    private let counter = Counter()
    let isAsked = true
    init(canOverrule: Bool = true) { self.canOverrule = canOverrule }

    func load(_ manager: ConfigurationManager) {}

    func value(namespace: String, key: String, scope: String) -> (any Sendable)? {
      guard scope.isEmpty, key.hasSuffix("known") else { return nil }
      counter.increment()
      return key == "counter.known" ? "\(counter.value)" : "\(namespace)/\(key)"
    }
  }

  private struct Known: Decodable, Equatable {
    let known: String
    let unknown: String?
    let other: Int?
  }

  @Test func aSourceWithoutAListIsReadByKey() throws {
    try manager.addSource(FixedSource("defaults", ["a.known": "default", "a.other": 1]))
    try manager.addSource(Reader())
    let child = ConfigurationManager(parent: manager)
    #expect(try child.getValue(String.self, namespace: "n", key: "b.known", scope: "x.y") == "n/b.known")
    #expect(try child.getValue(String.self, key: "a.known") == "/a.known")
    #expect(try child.getValue(String?.self, key: "b.missing") == nil)
    #expect(
      try child.getConfiguration(Known.self, prefix: "a") == Known(known: "/a.known", unknown: "/a.unknown", other: 1))
    let entry = try #require(child.entries.first { $0.key == "a.known" })
    #expect(entry.source == "reader" && entry.overrules == ["defaults"])
    let first = try child.getValue(Int.self, key: "counter.known")
    #expect(try child.getValue(Int.self, key: "counter.known") > first)
  }

  @Test func aSourceThatCannotOverruleIsReadForUnsetKeysOnly() throws {
    try manager.addSource(FixedSource("defaults", ["a.known": "default"]))
    try manager.addSource(Reader(canOverrule: false))
    #expect(try manager.getValue(String.self, key: "a.known") == "default")
    #expect(try manager.getValue(String.self, key: "b.known") == "/b.known")
  }

  @Test func aCurrentValueReadsItsSourceEachTime() throws {
    try manager.addSource(Reader())
    let value = try manager.currentValue(Int.self, key: "counter.known")
    let first = value.value
    #expect(value.value > first)
  }
}
