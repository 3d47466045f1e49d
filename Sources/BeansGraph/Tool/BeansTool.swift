public import Beans

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The program that checks a package's declarations while it is built, and reports on their graph.
///
/// It is an executable target of the package that has the declarations, with one line:
///
///     // Sources/ShopBeans/main.swift
///     import BeansGraph
///     import Shop
///
///     BeansTool.run { environment in try Shop.declare(environment) }
///
/// The plugin `BeansCheck` runs the program when the declarations have changed; the command `swift package beans` runs
/// it on request.
public enum BeansTool {
  /// Runs the command of the command line, and ends the process: with 0 where no fault exists, 1 where one exists, 2
  /// where the command line is invalid.
  ///
  /// Without arguments, or for `check`, all faults of the declarations are written to standard error, each on a line in
  /// the format of compilers, so that editors can open the place. No bean is built then.
  ///
  /// - Parameters:
  ///   - name: the name of the environment.
  ///   - options: the checks beyond the graph.
  ///   - profiles: lists of active profiles, such as `["test", "production, eu"]`. `check` checks the declarations
  ///     under each list, and names with each fault the lists under which it exists. Without any list, the
  ///     configuration of the declarations selects the active profiles.
  ///   - file: the file of faults without a place of their own.
  ///   - line: the line of these faults.
  ///   - declare: makes the declarations to check, in an environment that has not started. Factories and their children
  ///     are checked, too. It runs on the build machine, so it should only declare.
  public static func run(
    name: String = "application", options: Set<StartupOption> = [], profiles: [String] = [],
    file: StaticString = #filePath,
    line: UInt = #line,
    _ declare: @escaping (Environment) throws -> Void
  ) -> Never {
    let program = Program(
      name: name, options: options, profiles: profiles,
      place: EnvironmentError.Origin(file: "\(file)", line: Int(line)), declare: declare)
    let outcome = program.run(Array(CommandLine.arguments.dropFirst()))
    write(outcome.errors, to: STDERR_FILENO)
    write(outcome.output, to: STDOUT_FILENO)
    exit(outcome.status)
  }

  /// Writes the text, unless its reader has gone.
  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

/// The function `write` of the C library, which the method of the same name hides.
@unsafe private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
