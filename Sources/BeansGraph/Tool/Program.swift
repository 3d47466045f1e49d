import Beans
import BeansErrors

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The program behind `BeansTool.run`, with a command line as its argument.
struct Program {
  let name: String
  let options: Set<StartupOption>
  /// The lists of active profiles. The declarations are checked under each list.
  var profiles: [String] = []
  /// The place of faults without a place of their own.
  let place: EnvironmentError.Origin
  let declare: (Environment) throws -> Void

  struct Outcome {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  static let usage = """
    usage: check [--profiles LIST]...
                                     reports all faults of the declarations, under each list of active profiles
           graph [--format mermaid|dot|json] [--bean NAME] [--depth N]
                                     draws the graph, or the part of it around a bean
           why BEAN OTHER            lists the paths from a bean to another one that it needs
           who-keeps BEAN            lists the beans that keep a bean
           diff FILE.json            compares the graph with one that `graph --format json` has written
           startup                   starts the environment, and lists how long each bean took to build
           help                      prints this text
    Each command takes --module NAME=FOLDER: the folder with the sources of a module. `swift package beans` also takes
    --program NAME: the executable target to run, in a package with several.

    """

  /// The commands, each with its options.
  private static let options: [String: Set<String>] = [
    "check": ["profiles"], "graph": ["format", "bean", "depth"], "why": [], "who-keeps": [], "diff": [], "startup": [],
  ]

  func run(_ arguments: [String]) -> Outcome {
    var files = SourceFiles(modules: [])
    do {
      let command = arguments.first ?? "check"
      if ["help", "-h"].contains(command) || arguments.contains("--help") { return Outcome(output: Self.usage) }
      guard let known = Self.options[command] else { throw UsageError("there is no command \(command)") }
      let options = try CommandLineOptions(arguments.dropFirst(), known: known.union(["module"]))
      files = SourceFiles(modules: options.all("module"))
      return switch command {
      case "graph": try graph(options)
      case "why": try why(options.arguments("BEAN", "OTHER"))
      case "who-keeps": try whoKeeps(options.arguments("BEAN")[0])
      case "diff": try diff(options.arguments("FILE.json")[0])
      case "startup": try startup(options)
      default: try check(options, files)
      }
    } catch let error as UsageError {
      return Outcome(status: 2, errors: "beans: \(error)\n\(Self.usage)")
    } catch let error as FileError {
      return Outcome(status: 1, errors: "beans: \(error)\n")
    } catch let error as EnvironmentError {
      return Outcome(status: 1, errors: lines(of: error, files))
    } catch {
      return Outcome(status: 1, errors: files.line(place, "\(error)"))
    }
  }

  /// The maximum number of paths that `why` lists, because a graph may have more than are readable.
  private static let maximumPaths = 1_000

  /// Makes the environment with all declarations.
  private func environment() throws -> Environment {
    let environment = try Environment(name: name)
    try declare(environment)
    return environment
  }

  // MARK: faults

  private func check(_ options: CommandLineOptions, _ files: SourceFiles) throws -> Outcome {
    _ = try options.arguments()
    let lists = options.all("profiles").isEmpty ? profiles : options.all("profiles")
    if lists.isEmpty {
      try environment().check(options: self.options)
      return Outcome()
    }
    // Each fault is listed once, with the lists under which it exists.
    var found: [(fault: any Error, lists: [String])] = []
    for list in lists {
      for fault in faults(under: list) {
        if let known = found.firstIndex(where: { "\($0.fault)" == "\(fault)" }) {
          found[known].lists.append(list)
        } else {
          found.append((fault, [list]))
        }
      }
    }
    let errors = found.map { line(of: $0.fault, files, " [profiles: \($0.lists.joined(separator: "; "))]") }
    return Outcome(status: found.isEmpty ? 0 : 1, errors: errors.joined())
  }

  /// Returns the faults of the declarations where the given profiles are active, regardless of the configuration.
  private func faults(under profiles: String) -> [any Error] {
    do {
      let environment = try environment()
      try environment.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["beans.profiles": profiles]))
      try environment.check(options: options)
      return []
    } catch let error as EnvironmentError where error.code == .startupFailed {
      return error.underlying
    } catch {
      return [error]
    }
  }

  private func lines(of error: EnvironmentError, _ files: SourceFiles) -> String {
    let faults = error.code == .startupFailed ? error.underlying : [error]
    return faults.map { line(of: $0, files) }.joined()
  }

  private func line(of fault: any Error, _ files: SourceFiles, _ addition: String = "") -> String {
    guard let fault = fault as? EnvironmentError else { return files.line(place, "\(fault)\(addition)") }
    let origin = fault.origin.flatMap { $0.line > 0 ? $0 : nil }
    let named = origin == nil ? fault : fault.with { $0.origin = nil }
    return files.line(origin ?? place, "\(named)\(addition)") + notes(of: fault, at: origin ?? place, files)
  }

  /// Returns notes on the beans on the path to a fault that are declared elsewhere, and the advice for the fault.
  private func notes(
    of fault: EnvironmentError, at place: EnvironmentError.Origin, _ files: SourceFiles
  ) -> String {
    let steps = fault.steps.enumerated().compactMap { number, step in
      step.origin.flatMap { origin in
        origin == place || origin.line < 1
          ? nil : files.line(origin, "\(number == 0 ? "for" : "→") \(step.label)", as: .note)
      }
    }
    return steps.joined() + files.line(place, fault.advice.joined(separator: " "), as: .note)
  }

  // MARK: queries

  private func graph(_ options: CommandLineOptions) throws -> Outcome {
    _ = try options.arguments()
    var graph = try environment().readGraph()
    let depth = try options.value("depth").map { text in
      guard let depth = Int(text), depth >= 0 else { throw UsageError("--depth is a number of steps, not \(text)") }
      return depth
    }
    if let bean = options.value("bean") {
      graph = try known(bean, in: graph).filter(bean, depth: depth ?? .max)
    } else if depth != nil {
      throw UsageError("--depth goes with --bean")
    }
    switch options.value("format") ?? "mermaid" {
    case "mermaid": return Outcome(output: graph.mermaid())
    case "dot": return Outcome(output: graph.dot())
    case "json":
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return Outcome(output: String(decoding: try encoder.encode(graph), as: UTF8.self) + "\n")
    case let other: throw UsageError("there is no format \(other)")
    }
  }

  private func why(_ beans: [String]) throws -> Outcome {
    let graph = try known(beans[1], in: known(beans[0], in: environment().readGraph()))
    let paths = graph.paths(from: beans[0], to: beans[1], limit: Self.maximumPaths + 1)
    if paths.isEmpty { return Outcome(output: "\(beans[0]) does not need \(beans[1])\n") }
    var lines = paths.prefix(Self.maximumPaths).map { path in
      (path.first?.from ?? "") + path.map { " → \($0.to) (\($0.way))" }.joined()
    }
    if paths.count > Self.maximumPaths { lines.append("and more: these are the first \(Self.maximumPaths)") }
    return Outcome(output: lines.map { "\($0)\n" }.joined())
  }

  private func whoKeeps(_ bean: String) throws -> Outcome {
    let keepers = try known(bean, in: environment().readGraph()).keepers(of: bean)
    if keepers.isEmpty { return Outcome(output: "no bean keeps \(bean)\n") }
    return Outcome(output: keepers.map { "\($0.from) keeps \($0.to) (\($0.way))\n" }.joined())
  }

  private func diff(_ file: String) throws -> Outcome {
    let difference = try environment().readGraph().difference(from: graph(in: file))
    return Outcome(output: difference.isEmpty ? "the graphs are the same\n" : difference.description)
  }

  /// Reads a graph from a file.
  ///
  /// - Throws: `FileError` that contains the name of the file and the reason.
  private func graph(in file: String) throws -> BeanGraph {
    guard let content = FileManager.default.contents(atPath: file) else { throw FileError("\(file) cannot be read") }
    do {
      return try JSONDecoder().decode(BeanGraph.self, from: content)
    } catch {
      throw FileError("\(file) does not hold a graph as `graph --format json` writes it: \(Self.reason(error))")
    }
  }

  /// Returns the error in a JSON document, with its path in the document.
  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let context =
      switch error {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      @unknown default: DecodingError.Context(codingPath: [], debugDescription: "\(error)")
      }
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return (path.isEmpty ? "" : "\(path): ") + context.debugDescription
  }

  private func known(_ bean: String, in graph: BeanGraph) throws -> BeanGraph {
    if graph.nodes(named: bean).isEmpty { throw UsageError("no bean is called \(bean)") }
    return graph
  }

  // MARK: startup

  private func startup(_ options: CommandLineOptions) throws -> Outcome {
    _ = try options.arguments()
    let environment = try environment()
    let startup = self.options.union([.recordTimes])
    try BlockingTask.run { try await environment.makeReady(options: startup) }
    // The environment serves only for its times; beans that cannot be released end with the process.
    defer { try? BlockingTask.run { try await environment.shutdown() } }
    let graph = try environment.readGraph()
    let total = environment.startupDuration ?? .zero
    let beans = StartupTimes.beans(of: graph, environment.startupTimes)
    let path = StartupTimes.longestPath(in: graph, beans)
    let sum = path.compactMap { beans[$0] }.reduce(.zero, +)
    let lines =
      ["startup: \(total.text)"]
      + beans.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value.text)  \($0.key)" }
      + ["longest path: \(sum.text)  \(path.joined(separator: " → "))"]
    return Outcome(output: lines.map { "\($0)\n" }.joined())
  }
}

extension BeanGraph.Edge {
  fileprivate var way: String { label.isEmpty ? kind.rawValue : "\(kind.rawValue): \(label)" }
}

extension Duration {
  /// The duration in microseconds, padded to a column.
  fileprivate var text: String {
    let digits = "\(Int(self / .microseconds(1)))"
    return String(repeating: " ", count: max(0, 9 - digits.count)) + digits + " µs"
  }
}
