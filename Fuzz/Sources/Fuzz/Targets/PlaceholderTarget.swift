import Beans

/// `ConfigurationManager.resolve`: text with placeholders.
struct PlaceholderTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [
    ("resolved", 0.1), ("plain", 0.01), ("invalidDeclaration", 0.05), ("unresolvedPlaceholder", 0.05),
  ]

  private let configuration: ConfigurationManager
  private static let words = [
    "$", "${", "}", "$${", "=", "{", ":", "${a}", "${n:b}", "${missing}", "${missing=x}", "${key}", "${${key}}",
    "${x=${a}}",
    "a", "n:b", "key", " ", "\t", "\n", "é", "👩‍👧", "\u{301}", "\u{0}", "{\"a\": 1}", "${a=", "${=", "$$$$${",
    "${number}", "${list}",
    "${object}",
  ]
  private static let seeds = [
    "", "plain", "${a}", "${n:b=default}", "x ${ a } y ${number} z", "${missing=${other=${a}}}", "$${a} $ $$ {}",
    "${json={\"a\": {\"b\": 1}}}", "${${key}}",
    String(repeating: "${x=", count: 64) + String(repeating: "}", count: 64),
    String(repeating: "${", count: 200), String(repeating: "${a}", count: 50),
  ]
  private let mutation = Mutation(words: words, others: seeds)

  init() throws {
    configuration = ConfigurationManager()
    try configuration.addSource(Values())
  }

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    if random.once(in: 40) { return Array(RandomText.make(&random).utf8) }
    if random.once(in: 100) {
      return Array(String(repeating: random.pick(Self.words), count: random.below(2000)).utf8)
    }
    let text = random.once(in: 2) ? random.pick(Self.seeds) : nested(random.below(8), &random)
    return mutation.apply(to: Array(text.utf8), times: random.pick([0, 1, 1, 2, 3, 8]), &random)
  }

  private func nested(_ depth: Int, _ random: inout RandomNumbers) -> String {
    if depth == 0 { return random.pick(["a", "n:b", "key", "", "text", "$${", "{}", "${number}"]) }
    let inner = nested(depth - 1, &random)
    return random.pick([
      "${\(inner)}", "${missing=\(inner)}", "${n:\(inner)=x}", "\(inner)${a}", "${a=\(inner)}", "{\(inner)}",
      " \(inner) ",
    ])
  }

  func run(_ input: [UInt8]) throws -> String {
    let text = String(decoding: input, as: UTF8.self)
    // Escaped so that nothing is a placeholder, every text resolves to itself.
    let escaped = Self.escape(text)
    if try configuration.resolve(escaped) != text {
      throw Broken(description: "escaped text is not resolved to itself")
    }
    do {
      let resolved = try configuration.resolve(text)
      if try configuration.resolve(text) != resolved { throw Broken(description: "the same text is resolved to two") }
      // With text around it, too: characters before and behind cannot matter.
      if try configuration.resolve("<\(text)>") != "<\(resolved)>", text.utf8.last != UInt8(ascii: "$") {
        throw Broken(description: "text around a text changes it")
      }
      if !text.utf8.contains(UInt8(ascii: "$")) {
        if resolved != text { throw Broken(description: "plain text changes") }
        return "plain"
      }
      return "resolved"
    } catch let error as EnvironmentError {
      let known: [EnvironmentError.Code] = [
        .invalidDeclaration, .unresolvedPlaceholder, .noConversion, .conversionFailed,
      ]
      guard known.contains(error.code) else { throw Broken(description: "unexpected: \(error)") }
      return "\(error.code)"
    }
  }

  /// Escapes byte by byte: to a `String` a brace and its combining characters are one character.
  private static func escape(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "$") { bytes.append(UInt8(ascii: "$")) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private final class Values: ConfigurationSource {
    let url = "fuzz"
    let canOverrule = false

    func load(_ manager: ConfigurationManager) throws {
      let values: [(String, String, any Sendable)] = [
        ("", "a", "A"), ("n", "b", "${a}"), ("", "key", "a"), ("", "number", 12), ("", "list", [1, 2]),
        ("", "object", Unreadable()), ("", "{}", "braces"), ("", "A", "again"),
      ]
      for (namespace, key, value) in values {
        try manager.configurationAdded(.init(namespace: namespace, key: key, value: value), source: self)
      }
    }
  }

  private final class Unreadable: Sendable {}
}
