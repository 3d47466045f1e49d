import Beans

/// `ProcessInfoConfigurationSource`: a key or section in the first line, and a variable in each other line.
struct VariablesTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [("found", 0.05), ("section", 0.05), ("missing", 0.05)]

  private static let keys = [
    "server.port", "post:mail.port", "mailServer.maxSize", "my.list", "my.list.0", "a-b.c_d", "HTTPServer", "x", "1st",
    "größe", "", ".", "a..b", ":", "a:", "server", "SERVER_PORT",
  ]
  private static let lines = [
    "SERVER_PORT=80", "POST_MAIL_PORT=25", "MAIL_SERVER_MAX_SIZE=1", "MY_LIST_0=a", "MY_LIST_1=b", "MY_LIST_3=d",
    "MY_LIST=c",
    "A_B_C_D=${server.port}", "HTTP_SERVER=${HTTP_SERVER}", "X=${", "=1", "_=", "server.port=81", "SERVER=x",
    "SERVER__PORT=2",
    "_1ST=3", "GR_E=4", "post:mail.port=5", "SERVER_PORT_MAX=6", "SERVER_0_PORT=7",
  ]
  private let mutation = Mutation(
    words: keys + lines + ["\n", "_", "=", ".", ":", "-", "A", "é", "\u{0}"], others: lines)

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    var text = random.pick(Self.keys)
    for _ in 0..<random.below(8) { text += "\n\(random.pick(Self.lines))" }
    return mutation.apply(to: Array(text.utf8), times: random.pick([0, 0, 1, 2, 4]), &random)
  }

  func run(_ input: [UInt8]) throws -> String {
    var lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)[...]
    let name = String(lines.popFirst() ?? "")
    var variables: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
    }
    let configuration = ConfigurationManager()
    try configuration.addSource(ProcessInfoConfigurationSource(variables: variables))
    let (namespace, key) = Self.split(name)
    let isFound = configuration.hasValue(namespace: namespace, key: key)
    if let variable = Self.variable(name), variables[variable] != nil, !isFound {
      throw Broken(description: "'\(name)' is not found as \(variable)")
    }
    for (variable, value) in variables where !value.utf8.contains(UInt8(ascii: "$")) {
      let (namespace, key) = Self.split(variable)
      if key.isEmpty { continue }
      // Two names may be the same key: `a` and `:a`.
      let read = try configuration.getValue(String.self, namespace: namespace, key: key)
      if read != value, !variables.values.contains(read) { throw Broken(description: "\(variable) is '\(read)'") }
    }
    _ = configuration.report()
    do {
      let section = try configuration.getConfiguration([String: String]?.self, prefix: name)
      let list = try configuration.getConfiguration([String]?.self, prefix: name)
      return isFound ? "found" : section == nil && list == nil ? "missing" : "section"
    } catch let error as EnvironmentError {
      let known: [EnvironmentError.Code] = [
        .missingConfiguration, .unresolvedPlaceholder, .cyclicDependency, .invalidDeclaration, .conversionFailed,
      ]
      guard known.contains(error.code) else { throw Broken(description: "unexpected: \(error)") }
      return "\(error.code)"
    }
  }

  private static func split(_ name: String) -> (namespace: String, key: String) {
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    return parts.count == 2 ? (parts[0], parts[1]) : ("", name)
  }

  /// Returns the variable of a key of words in lower case, with dots or a colon between them; nil for any other key.
  private static func variable(_ name: String) -> String? {
    let words = name.split(omittingEmptySubsequences: false) { $0 == "." || $0 == ":" }
    guard
      words.allSatisfy({ word in
        word.first.map { ("a"..."z").contains($0) } == true && word.allSatisfy { ("a"..."z").contains($0) }
      })
    else { return nil }
    return words.joined(separator: "_").uppercased()
  }
}
