#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The environment variables of the process, as text.
///
/// A key is found under its own name, and under the name that a shell can export: `SERVER_PORT` for `server.port`,
/// `POST_MAIL_PORT` for `post:mail.port`; see `KeySpelling.environmentVariables(prefix:)`. The name of a variable
/// `namespace:key` is split at the first colon.
public final class ProcessInfoConfigurationSource: ConfigurationSource {
  private let variables: [String: String]
  /// The names of variables for keys.
  public let spelling: KeySpelling

  /// Creates a source with a copy of the current variables. Not to be called while another thread calls `setenv`.
  public convenience init() { self.init(variables: nil) }

  /// Creates a source with these variables, or with a copy of the current ones. Not to be called without variables while
  /// another thread calls `setenv`.
  ///
  /// - Parameters:
  ///   - variables: the values by the names of the variables; nil for the variables of the process.
  ///   - prefix: the beginning of the names: with `SHOP`, `SHOP_PORT` is the value of `port`, and variables with other
  ///     names are left out.
  ///   - ignoresEmpty: whether a variable that is set to an empty text counts as not set, which files for containers
  ///     often mean.
  public init(variables: [String: String]? = nil, prefix: String = "", ignoresEmpty: Bool = false) {
    let spelling = KeySpelling.environmentVariables(prefix: prefix)
    self.spelling = spelling
    self.variables = (variables ?? Self.current()).filter { name, value in
      name.hasPrefix(spelling.prefix) && !(ignoresEmpty && value.isEmpty)
    }
  }

  /// The text "environment variables".
  public var url: String { "environment variables" }

  /// Adds one value for each variable that has a name.
  public func load(_ manager: ConfigurationManager) throws {
    for (name, value) in variables {
      let key = QualifiedKey(name)
      if key.key.isEmpty { continue }
      try manager.configurationAdded(
        ConfigurationItem(namespace: key.namespace, key: key.key, value: value), source: self)
    }
  }

  private static func current() -> [String: String] {
    var variables: [String: String] = [:]
    // Ends with a null pointer; the process keeps the memory unless another thread changes a variable, see `init`.
    #if canImport(Darwin)
      guard var next = unsafe _NSGetEnviron().pointee else { return [:] }
    #else
      var next = unsafe environ
    #endif
    while let entry = unsafe next.pointee {
      let parts = unsafe String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      unsafe next += 1
    }
    return variables
  }
}
