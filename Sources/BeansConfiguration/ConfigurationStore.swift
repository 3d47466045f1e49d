import BeansErrors

/// The values of one manager: for each address those of all sources that have one, the latest source on top.
///
/// Lives under the manager's lock. What a change removes is handed out, because its end may run the user's code.
struct ConfigurationStore: Sendable {
  struct Address: Hashable, Sendable {
    let key: QualifiedKey
    let scope: String
  }

  /// By rank.
  private(set) var sources: [any ConfigurationSource] = []
  private var ranks: [ObjectIdentifier: Int] = [:]
  /// By ascending rank; never empty.
  private(set) var layers: [Address: [ConfigurationValue]] = [:]

  /// False where the source is known.
  mutating func add(_ source: any ConfigurationSource) -> Bool {
    guard ranks[ObjectIdentifier(source)] == nil else { return false }
    ranks[ObjectIdentifier(source)] = sources.count
    sources.append(source)
    return true
  }

  /// - Parameter url: of the source. Asked for beforehand, because it is the user's code.
  /// - Returns: the source's own value that was there.
  mutating func put(
    _ item: ConfigurationItem, of source: any ConfigurationSource, url: String, canOverrule: Bool, isChange: Bool
  ) throws(EnvironmentError) -> ConfigurationValue? {
    guard !item.key.isEmpty else {
      throw EnvironmentError(cause: .valueWithoutKey, "\(url) has a configuration value without a key")
    }
    _ = add(source)
    let rank = ranks[ObjectIdentifier(source)] ?? sources.count
    let address = Address(key: item.qualifiedKey, scope: item.scope)
    let value = ConfigurationValue(item, url: url, canOverrule: canOverrule, rank: rank)
    var stack = layers[address] ?? []
    let position = stack.firstIndex { $0.rank >= rank } ?? stack.endIndex
    var replaced: ConfigurationValue?
    if position < stack.endIndex, stack[position].rank == rank {
      guard isChange || canOverrule else { throw Self.conflict(stack[position], value) }
      replaced = stack[position]
      stack[position] = value
    } else {
      if position > 0, !canOverrule { throw Self.conflict(stack[position - 1], value) }
      if position < stack.endIndex, !stack[position].canOverrule { throw Self.conflict(value, stack[position]) }
      stack.insert(value, at: position)
    }
    layers[address] = stack
    return replaced
  }

  /// Takes back the value of one source.
  mutating func remove(_ address: Address, of source: any ConfigurationSource) -> ConfigurationValue? {
    guard let rank = ranks[ObjectIdentifier(source)], var stack = layers[address],
      let position = stack.firstIndex(where: { $0.rank == rank })
    else { return nil }
    let removed = stack.remove(at: position)
    layers[address] = stack.isEmpty ? nil : stack
    return removed
  }

  /// Takes back everything of the source, which was the last to be added or keeps its place.
  mutating func withdraw(_ source: any ConfigurationSource) -> [ConfigurationValue] {
    guard let rank = ranks.removeValue(forKey: ObjectIdentifier(source)) else { return [] }
    var removed: [ConfigurationValue] = []
    for (address, stack) in layers where stack.contains(where: { $0.rank == rank }) {
      let rest = stack.filter { $0.rank != rank }
      removed += stack.filter { $0.rank == rank }
      layers[address] = rest.isEmpty ? nil : rest
    }
    if rank == sources.count - 1 { sources.removeLast() }
    return removed
  }

  /// The value that holds for a scope: the specific wins over the general.
  func find(_ key: QualifiedKey, scope: String) -> ConfigurationValue? {
    var scope = Substring(scope)
    while true {
      if let found = layers[Address(key: key, scope: String(scope))]?.last { return found }
      if scope.isEmpty { return nil }
      scope = scope.lastIndex(of: ".").map { scope[..<$0] } ?? ""
    }
  }

  /// Lets go of the sources; the values can still be read.
  mutating func close() -> [any ConfigurationSource] {
    defer { (sources, ranks) = ([], [:]) }
    return sources
  }

  private static func conflict(_ earlier: ConfigurationValue, _ later: ConfigurationValue) -> EnvironmentError {
    let scope = later.item.scope.isEmpty ? "" : " in scope '\(later.item.scope)'"
    return EnvironmentError(
      cause: .repeatedValue,
      "configuration value '\(later.item.qualifiedKey)'\(scope) of \(earlier.url) is given once more by \(later.url), "
        + "which cannot overrule", path: ["'\(later.item.qualifiedKey)'"])
  }
}
