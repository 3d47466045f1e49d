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

  /// The keys of the lists of which this may be an element, or a value in an element: `a` and `a.0.b` for `a.0.b.1`.
  var lists: [QualifiedKey] {
    let hasDigit = key.utf8.contains { (0x30...0x39).contains($0) }
    if !hasDigit { return [] }
    var lists: [QualifiedKey] = []
    var dot: String.Index?
    for index in key.indices where key[index] == "." {
      if let dot, Int(key[key.index(after: dot)..<index]) != nil { lists.append(prefix(dot)) }
      dot = index
    }
    if let dot, Int(key[key.index(after: dot)...]) != nil { lists.append(prefix(dot)) }
    return lists
  }

  private func prefix(_ end: String.Index) -> QualifiedKey {
    QualifiedKey(namespace: namespace, key: String(key[..<end]))
  }

  var description: String { namespace.isEmpty ? key : "\(namespace):\(key)" }
}
