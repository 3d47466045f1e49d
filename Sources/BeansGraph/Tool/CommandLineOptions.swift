/// The command line after the command: options with values, and the other arguments.
struct CommandLineOptions {
  private var values: [String: [String]] = [:]
  private(set) var rest: [String] = []

  /// - Parameters:
  ///   - arguments: the command line after the command.
  ///   - known: the options of the command, without their dashes.
  /// - Throws: `UsageError` for an option that is unknown, or that has no value.
  init(_ arguments: some Sequence<String>, known: Set<String>) throws {
    var arguments = Array(arguments)[...]
    while let next = arguments.popFirst() {
      guard next.hasPrefix("--") else {
        rest.append(next)
        continue
      }
      let name = String(next.dropFirst(2))
      guard known.contains(name) else { throw UsageError("there is no option \(next)") }
      guard let value = arguments.popFirst() else { throw UsageError("\(next) needs a value") }
      values[name, default: []].append(value)
    }
  }

  /// Returns the value of an option; the last one, where there are several.
  func value(_ name: String) -> String? { values[name]?.last }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Returns the arguments that are not options.
  ///
  /// - Throws: `UsageError` where the number of arguments differs from that of `names`.
  func arguments(_ names: String...) throws -> [String] {
    if rest.count == names.count { return rest }
    throw UsageError(names.isEmpty ? "no arguments are taken here" : "needs \(names.joined(separator: " "))")
  }
}

/// An invalid command line, with the reason.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A file that a command cannot use, with the reason.
struct FileError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
