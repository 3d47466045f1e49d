import Glibc

/// Measures the container beside hand-written Swift; see README.md.
@main
enum Benchmarks {
  static func main() throws {
    let options: Options
    do {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      let message = Array("\(error)\n\(Options.usage)".utf8)
      write(STDERR_FILENO, message, message.count)
      exit(64)
    }
    let isGood =
      switch options.scenario {
      case .lifecycle:
        try RequestLifecycle(
          rounds: options.rounds, operations: options.operations ?? 100_000, held: options.held, limit: options.limit
        ).run()
      case .profile: try profile(options.operations ?? 1_000_000)
      case .memory:
        try MemoryGrowth(operations: options.operations ?? 1_000_000, forget: options.forget).run()
      }
    exit(isGood ? EXIT_SUCCESS : EXIT_FAILURE)
  }

  /// The container alone, for a profiler to watch.
  private static func profile(_ operations: Int) throws -> Bool {
    try RequestContestants.container().run(operations)
    return true
  }
}
