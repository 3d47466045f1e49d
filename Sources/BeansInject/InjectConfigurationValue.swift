import BeansReflection

/// An injection of a configuration value, converted to the property's type.
///
/// Startup resolves the value once: a missing value without a default, or a failed conversion, is a fault of startup.
/// Later changes of the configuration do not reach existing beans.
public final class InjectConfigurationValue: Inject, @unchecked Sendable {
  /// The namespace of the key.
  package let namespace: String
  /// The key.
  package let key: String
  /// The value if the configuration has none; converted, too.
  package let defaultValue: (any Sendable)?

  /// Creates an injection of the value with that key.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - defaultValue: the value if the configuration has none; converted, too.
  public init(namespace: String = "", key: String, defaultValue: (any Sendable)? = nil) {
    self.namespace = namespace
    self.key = key
    self.defaultValue = defaultValue
    super.init()
  }

  override var source: InjectionSource {
    .configuration(ConfigurationRequest(namespace: namespace, key: key, defaultValue: defaultValue))
  }
}
