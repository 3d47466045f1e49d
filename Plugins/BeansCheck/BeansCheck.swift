import Foundation
import PackagePlugin

/// Runs the program of a package's declarations whenever it has changed, or a document beside their sources. Errors in
/// the declarations become errors of the build.
@main
struct BeansCheck: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let programs = try Program.all(in: context.package)
    // Built programs are in one folder; the plugin has a tool of its own to find it.
    let folder = try context.tool(named: "beans-place").url.deletingLastPathComponent()
    return try programs.map { program in
      if program.uses(target) {
        throw Program.Fault(
          "\(target.name) is part of \(program.name), which checks it: give the plugin to a target that uses \(target.name)"
        )
      }
      let executable = folder.appending(path: program.name)
      // Without outputs: a generated file would become a resource of the target.
      return .buildCommand(
        displayName: "Checking the beans of \(program.name)", executable: executable,
        arguments: ["check"] + program.moduleArguments, inputFiles: [executable] + program.documents)
    }
  }
}
