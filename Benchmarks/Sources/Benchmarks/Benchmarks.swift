import Glibc

/// Measures the container beside hand-written Swift; see README.md.
@main
enum Benchmarks {
  static func main() {
    do {
      exit(try run(Options(CommandLine.arguments.dropFirst())) ? EXIT_SUCCESS : EXIT_FAILURE)
    } catch let error as Options.Refused {
      complain("\(error)\n\(Options.usage)")
      exit(EX_USAGE)
    } catch {
      complain("\(error)\n")
      exit(EXIT_FAILURE)
    }
  }

  private static func run(_ options: Options) throws -> Bool {
    switch options.command {
    case .measure(let scenarios): return try measure(scenarios, options)
    case .memory:
      return try MemoryGrowth(operations: options.settings.operations(1_000_000), forget: options.forget).run()
    case .profile(let name):
      try CountedRun.run(name, operations: options.settings.operations)
      return true
    case .coldStart(let side):
      try ColdStarts.start(side)
      return true
    }
  }

  private static func measure(_ scenarios: [Scenario], _ options: Options) throws -> Bool {
    let linking = "The Swift runtime is \(try SwiftRuntime.linking.rawValue).\n"
    print(linking)
    var tables: [Table] = []
    for scenario in scenarios {
      let table = try scenario.measure(options.settings)
      TextReport.print(table)
      // So that a table can be seen as soon as it is there, also through a pipe.
      fflush(nil)
      tables.append(table)
      if let folder = options.plots {
        for plot in table.plots { try OutputFile.write(plot.svg, to: "\(folder)/\(plot.file)") }
      }
    }
    if let file = options.json { try OutputFile.write(JSONReport.text(tables), to: file) }
    if let file = options.markdown { try OutputFile.write("\(linking)\n\(MarkdownReport.text(tables))", to: file) }
    return tables.allSatisfy(\.failures.isEmpty)
  }

  private static func complain(_ text: String) {
    let bytes = Array(text.utf8)
    write(STDERR_FILENO, bytes, bytes.count)
  }
}
