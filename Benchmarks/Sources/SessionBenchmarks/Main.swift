import Glibc

struct Failed: Error, CustomStringConvertible { let description: String }

/// Measures sessions that are kept in memory and in Redis, beside a client by hand; see `scripts/bench-sessions`.
@main
enum SessionBenchmarks {
  private static let usage = """
    usage: SessionBenchmarks --redis port --tls port --roots file [--operations n] [--live n]
             sessions in memory, in a Redis server on this machine, whose keys are removed, and by hand

    """

  static func main() {
    do {
      let options = try options(CommandLine.arguments.dropFirst())
      try KeptSessions(
        port: number("--redis", options), tlsPort: number("--tls", options), roots: options["--roots"] ?? "",
        operations: number("--operations", options), sessions: number("--live", options)
      ).run()
    } catch {
      let text = Array("\(error)\n\(usage)".utf8)
      write(STDERR_FILENO, text, text.count)
      exit(EXIT_FAILURE)
    }
  }

  private static func options(_ arguments: some Sequence<String>) throws -> [String: String] {
    var options = ["--operations": "20000", "--live": "1000000"]
    var rest = Array(arguments)[...]
    while let name = rest.popFirst() {
      guard let value = rest.popFirst() else { throw Failed(description: "'\(name)' wants a value") }
      options[name] = value
    }
    let unknown = Set(options.keys).subtracting(["--redis", "--tls", "--roots", "--operations", "--live"])
    if let name = unknown.min() { throw Failed(description: "no option '\(name)'") }
    return options
  }

  private static func number(_ name: String, _ options: [String: String]) throws -> Int {
    guard let value = options[name].flatMap(Int.init), value > 0 else {
      throw Failed(description: "'\(name)' wants a number of at least 1")
    }
    return value
  }
}
