import BeansErrors

/// The options of the command line: `--key=value`, `--namespace:key=value`, and `--flag`, which has the value `true`.
///
/// The last one of several options with the same name has precedence. Arguments without a leading `--` are ignored, and
/// so are all arguments after a bare `--`.
public final class CommandLineConfigurationSource: ConfigurationSource {
  private let arguments: [String]

  /// Creates a source with the arguments of the process, or with others.
  public init(arguments: [String] = CommandLine.arguments) { self.arguments = arguments }

  /// The names of options for keys.
  public var spelling: KeySpelling { .commandLine }

  /// The text "command line".
  public var url: String { "command line" }

  /// Whether the command line overrides sources added before it; always true.
  public var canOverrule: Bool { true }

  /// Adds one value for each option. Throws `.invalidDeclaration` for an option without a name, such as `--=3`.
  public func load(_ manager: ConfigurationManager) throws {
    for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = QualifiedKey(parts[0])
      guard !key.key.isEmpty else {
        throw EnvironmentError(
          cause: .valueWithoutKey,
          "the option \(ConversionFailure.quote(argument)) of the command line names no key: write --key=value",
          path: [url])
      }
      let value: any Sendable = parts.count == 2 ? String(parts[1]) : true
      try manager.configurationAdded(
        ConfigurationItem(namespace: key.namespace, key: key.key, value: value), source: self)
    }
  }
}
