import BeansErrors

/// The options of the command line: `--key=value`, `--key value`, `--namespace:key=value`, and flags.
///
/// An option without `=` takes the next argument as its value, unless that is an option itself (a negative number is
/// none) or the option is declared as a flag. A flag has the value `true`, and so has an option without any value, which
/// can be read as a Boolean only. A key is found under its own name, and under the names of
/// `KeySpelling.commandLine`: `--post.mail.port` or `--post-mail-port` for `post:mail.port`.
///
/// The last one of several options with the same name has precedence. All other arguments are ignored, and so are all
/// arguments after a bare `--`.
public final class CommandLineConfigurationSource: ConfigurationSource {
  private let arguments: [String]
  private let flags: Set<String>

  /// Creates a source with the arguments of the process, or with others.
  ///
  /// - Parameters:
  ///   - arguments: the arguments, with or without the name of the program.
  ///   - flags: the keys of the options that never take the next argument: `key` or `namespace:key`.
  public init(arguments: [String] = CommandLine.arguments, flags: Set<String> = []) {
    self.arguments = arguments
    self.flags = Set(flags.flatMap { [$0] + KeySpelling.commandLine.names(of: QualifiedKey($0)) })
  }

  /// The names of options for keys.
  public var spelling: KeySpelling { .commandLine }

  /// The text "command line".
  public var url: String { "command line" }

  /// Adds one value for each option. Throws `.invalidDeclaration` for an option without a name, such as `--=3`.
  public func load(_ manager: ConfigurationManager) throws {
    var rest = arguments.prefix { $0 != "--" }
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else { continue }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts.first ?? "")
      let key = QualifiedKey(name)
      guard !key.key.isEmpty else {
        throw EnvironmentError(
          cause: .valueWithoutKey,
          "the option \(ConversionFailure.quote(argument)) of the command line names no key: write --key=value",
          path: [url])
      }
      let value: any Sendable
      if parts.count == 2 {
        value = String(parts[1])
      } else if flags.contains(name) {
        value = true
      } else if let next = rest.first, !Self.isOption(next) {
        value = next
        rest.removeFirst()
      } else {
        value = BareOption(option: "--\(name)")
      }
      try manager.configurationAdded(
        ConfigurationItem(namespace: key.namespace, key: key.key, value: value), source: self)
    }
  }

  /// Whether an argument begins an option. A negative number does not, nor does a single dash.
  private static func isOption(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), let next = argument.dropFirst().first else { return false }
    return next != "." && !(next.isASCII && next.isNumber)
  }
}
