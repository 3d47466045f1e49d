/// The namespace and the key of a configuration value.
struct QualifiedKey: Hashable, Sendable, CustomStringConvertible {
  let namespace: String
  let key: String

  init(namespace: String, key: String) {
    self.namespace = namespace
    self.key = key
  }

  /// Parses `key` or `namespace:key`; the first colon separates the two.
  init(_ text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(namespace: parts.count == 2 ? String(parts[0]) : "", key: String(parts.last ?? ""))
  }

  var description: String { namespace.isEmpty ? key : "\(namespace):\(key)" }
}
