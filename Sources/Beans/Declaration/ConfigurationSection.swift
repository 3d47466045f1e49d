/// The section of the configuration that a declaration binds to its bean's type.
struct ConfigurationSection: Sendable {
  /// `key` or `namespace:key`; empty for all keys without a namespace.
  let prefix: String
  /// Whether a value below the prefix that belongs to no property is a fault.
  let rejectsUnknownKeys: Bool
}
