import Beans
import BeansJSON
import BeansYAML

/// `JSONText` or `YAMLText`: a configuration file.
struct FileTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [("read", 0.05), ("conversionFailed", 0.2)]

  private let parse: ([UInt8], String) throws -> [ConfigurationItem]
  private let seeds: [String]
  private let mutation: Mutation

  private init(
    seeds: [String], words: [String], _ parse: @escaping ([UInt8], String) throws -> [ConfigurationItem]
  ) {
    (self.seeds, self.parse) = (seeds, parse)
    mutation = Mutation(words: words, others: seeds)
  }

  static var json: FileTarget {
    FileTarget(seeds: ConfigurationFiles.json, words: ConfigurationFiles.jsonWords, JSONText.items)
  }
  static var yaml: FileTarget {
    FileTarget(seeds: ConfigurationFiles.yaml, words: ConfigurationFiles.yamlWords, YAMLText.items)
  }

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    if random.once(in: 100) {
      return Array(String(repeating: random.pick(mutation.words), count: random.below(2000)).utf8)
    }
    return mutation.apply(to: Array(random.pick(seeds).utf8), times: random.pick([0, 1, 1, 2, 3, 8]), &random)
  }

  func run(_ input: [UInt8]) throws -> String {
    let lineCount = input.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") || $0 >= 0x80 } + 1
    do {
      let items = try parse(input, "fuzz")
      var names: Set<[String]> = []
      for item in items {
        guard names.insert([item.namespace, item.key]).inserted else {
          throw Broken(description: "'\(item.key)' is there twice")
        }
        guard let line = item.line, (1...lineCount).contains(line) else {
          throw Broken(description: "'\(item.key)' has the line \(item.line ?? 0)")
        }
      }
      let again = try parse(input, "fuzz")
      guard again.map(\.key) == items.map(\.key) else { throw Broken(description: "two readings differ") }
      let configuration = ConfigurationManager()
      try configuration.addSource(Items(items))
      _ = configuration.report()
      return items.isEmpty ? "empty" : "read"
    } catch let error as EnvironmentError {
      guard error.code == .conversionFailed, !error.report.isEmpty else {
        throw Broken(description: "unexpected: \(error)")
      }
      for fault in [error] + error.underlying.compactMap({ $0 as? EnvironmentError }) {
        guard let origin = fault.origin, origin.file == "fuzz", (1...lineCount + 1).contains(origin.line) else {
          throw Broken(description: "a fault without its place: \(fault)")
        }
      }
      return "\(error.code)"
    }
  }

  private final class Items: ConfigurationSource {
    let url = "fuzz"
    let canOverrule = true
    private let items: [ConfigurationItem]

    init(_ items: [ConfigurationItem]) { self.items = items }

    func load(_ manager: ConfigurationManager) throws {
      for item in items { try manager.configurationAdded(item, source: self) }
    }
  }
}
