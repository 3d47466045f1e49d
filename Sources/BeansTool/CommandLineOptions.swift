/// What stands on a command line behind the command: options with values, and the rest.
struct CommandLineOptions {
  private var values: [String: [String]] = [:]
  private(set) var rest: [String] = []

  /// - Parameters:
  ///   - arguments: behind the command.
  ///   - known: the options that the command has, without their dashes.
  /// - Throws: `UsageError` for an option that it does not have, or that has no value.
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

  /// The last value counts.
  func value(_ name: String) -> String? { values[name]?.last }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// - Throws: `UsageError` where there are fewer or more arguments than that.
  func arguments(_ names: String...) throws -> [String] {
    if rest.count == names.count { return rest }
    throw UsageError(names.isEmpty ? "no arguments are taken here" : "needs \(names.joined(separator: " "))")
  }
}

/// A command line that cannot be understood, and why.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A file that is not what a command needs, and why.
struct FileError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
