import Beans

/// The faults of the settings, one in each line.
struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
  /// The exit code of the process: `EX_CONFIG` of sysexits.h.
  static let exitCode: Int32 = 78

  let lines: [String]

  init(lines: [String]) { self.lines = lines }

  /// Takes the faults that an error of the configuration holds. Line breaks in a value do not begin a line.
  init(_ error: EnvironmentError) {
    let faults = error.underlying.compactMap { $0 as? EnvironmentError }
    lines = (faults.isEmpty ? [error] : faults).map { fault in
      fault.message.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }

  var description: String { lines.map { "storefront: \($0)" }.joined(separator: "\n") }
}
