import Beans

/// `CommandLineConfigurationSource`: an argument in each line.
struct CommandLineTarget: FuzzTarget {
  let expected: [(outcome: String, share: Double)] = [("read", 0.3), ("invalidDeclaration", 0.005)]

  private static let arguments = [
    "program", "--port", "8080", "--port=80", "--host", "x", "--verbose", "-v", "--", "-5", "-.5", "-", "--=1", "--:",
    "--post:mail.port", "--post.mail.port=25", "--list", "a,b", "--a=b=c", "---", "--é", "--empty=", "",
    "--url=${port}",
    "--self=${self}",
  ]
  private let mutation = Mutation(
    words: arguments + ["\n", "-", "--", "=", ":", "\u{0}", "${"], others: ["--port\n8080\n--host\nx\n--verbose"])

  func makeInput(_ random: inout RandomNumbers) -> [UInt8] {
    let text = (0..<random.below(10)).map { _ in random.pick(Self.arguments) }.joined(separator: "\n")
    return mutation.apply(to: Array(text.utf8), times: random.pick([0, 0, 1, 2, 4]), &random)
  }

  func run(_ input: [UInt8]) throws -> String {
    let arguments = String(decoding: input, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    let configuration = ConfigurationManager()
    do {
      try configuration.addSource(CommandLineConfigurationSource(arguments: arguments, flags: ["verbose"]))
    } catch let error as EnvironmentError {
      guard error.code == .invalidDeclaration else { throw Broken(description: "unexpected: \(error)") }
      return "\(error.code)"
    }
    let options = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.dropFirst(2) }
    for (index, option) in options.enumerated() {
      let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
      let name = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
      let (namespace, key) = name.count == 2 ? (name[0], name[1]) : ("", parts[0])
      guard configuration.hasValue(namespace: namespace, key: key) else {
        throw Broken(description: "the option \(option) has no value")
      }
      // `--:a` and `--a` are the same key.
      let isLast = !options[(index + 1)...].contains { $0.contains(key) }
      guard isLast, parts.count == 2, !parts[1].utf8.contains(UInt8(ascii: "$")) else { continue }
      let read = try configuration.getValue(String.self, namespace: namespace, key: key)
      if read != parts[1] { throw Broken(description: "the option \(option) is '\(read)'") }
    }
    for key in ["port", "verbose", "host", "self", "list"] {
      if (try? configuration.getValue(Bool.self, key: key)) == true,
        (try? configuration.getValue(Int.self, key: key)).map({ $0 != 1 }) == true
      {
        throw Broken(description: "true has become a number")
      }
    }
    _ = configuration.report()
    return "read"
  }
}
