public import Beans
import Foundation

/// The program that checks a package's declarations while it is built, and answers questions about them.
///
/// It is an executable target of the package that has the declarations, with one line:
///
///     // Sources/ShopBeans/main.swift
///     import BeansTool
///     import Shop
///
///     BeansTool.run { environment in try Shop.declare(environment) }
///
/// The plugin `BeansCheck` runs it when the declarations have changed, and the command `swift package beans` when it is asked.
public enum BeansTool {
  /// Does what the command line says, and ends the process: 0 where nothing is wrong, 1 where something is, 2 where the
  /// command line cannot be understood.
  ///
  /// Without arguments, or for `check`, all that is wrong with the declarations is written to standard error, each on a line as
  /// compilers do it, for editors to go there. Nothing is built then.
  ///
  /// - Parameters:
  ///   - name: what the environment is called.
  ///   - options: what is checked beyond the graph.
  ///   - profiles: lists of active profiles, such as `["test", "production, eu"]`. `check` looks at the declarations under each of them,
  ///     and names with each fault the lists under which it is found. Without any, the configuration that the declarations make
  ///     says which profiles are active.
  ///   - file: where faults stand that have no place of their own.
  ///   - line: where in the file.
  ///   - declare: declares what is to be checked, in an environment that has not started: factories and what they configure
  ///     count, too. It runs on the machine that builds, so it should do nothing but declare.
  public static func run(
    name: String = "application", options: StartupOptions = [], profiles: [String] = [], file: StaticString = #filePath,
    line: UInt = #line,
    _ declare: @escaping (Environment) throws -> Void
  ) -> Never {
    let program = Program(
      name: name, options: options, profiles: profiles,
      place: EnvironmentError.Origin(file: "\(file)", line: Int(line)), declare: declare)
    let outcome = program.run(Array(CommandLine.arguments.dropFirst()))
    FileHandle.standardError.write(Data(outcome.errors.utf8))
    FileHandle.standardOutput.write(Data(outcome.output.utf8))
    exit(outcome.status)
  }
}
