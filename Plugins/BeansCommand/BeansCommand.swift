import Foundation
import PackagePlugin

/// `swift package beans`: builds the program of a package's declarations, and runs it with the given words.
@main
struct BeansCommand: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let wanted = extractor.extractOption(named: "program").last
    let programs = try Program.all(in: context.package).filter { wanted == nil || $0.name == wanted }
    guard let program = programs.first, programs.count == 1 else {
      let names = try Program.all(in: context.package).map(\.name).joined(separator: ", ")
      throw Program.Fault("--program says which one is asked: \(names)")
    }
    let result = try packageManager.build(.product(program.name), parameters: .init(configuration: .inherit))
    guard result.succeeded,
      let executable = result.builtArtifacts.first(where: {
        $0.kind == .executable && $0.url.lastPathComponent == program.name
      })
    else { throw Program.Fault(result.logText) }
    let process = Process()
    process.executableURL = executable.url
    let command = extractor.remainingArguments.isEmpty ? ["help"] : extractor.remainingArguments
    process.arguments = command + program.moduleArguments
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { exit(process.terminationStatus) }
  }
}
