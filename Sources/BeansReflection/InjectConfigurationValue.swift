/// Asks for a configuration value, converted to the property's type.
///
/// Startup resolves it, once: one that is missing and has no default, or will not convert, is a fault then. Later changes
/// of the configuration do not reach beans that exist.
public final class InjectConfigurationValue: Inject, @unchecked Sendable {
  /// The namespace of the key.
  public let namespace: String
  /// The key.
  public let key: String
  /// What is used where there is no such value; converted, too.
  public let defaultValue: (any Sendable)?

  /// Creates an injection of the value with that key.
  ///
  /// - Parameters:
  ///   - namespace: where the key stands.
  ///   - key: names the value.
  ///   - defaultValue: what is used where there is no such value; converted, too.
  public init(namespace: String = "", key: String, defaultValue: (any Sendable)? = nil) {
    self.namespace = namespace
    self.key = key
    self.defaultValue = defaultValue
    super.init()
  }
}
