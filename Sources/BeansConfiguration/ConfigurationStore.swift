import BeansErrors

/// The values of one manager: for each address a stack of the values of all sources, the latest source on top.
///
/// Guarded by the manager's lock. A change returns the objects that it removes, because their deinitialisation may run
/// user code.
struct ConfigurationStore: Sendable {
  struct Address: Hashable, Sendable {
    let key: QualifiedKey
    let scope: String

    init(key: QualifiedKey, scope: String) { (self.key, self.scope) = (key, scope) }
    init(_ item: ConfigurationItem) { self.init(key: item.qualifiedKey, scope: item.scope) }
  }

  /// The sources by rank.
  private(set) var sources: [any ConfigurationSource] = []
  /// The sources that are asked for keys.
  private(set) var asked: [any ConfigurationSource] = []
  private var ranks: [ObjectIdentifier: Int] = [:]
  /// The values of each address by ascending rank; never empty.
  private(set) var layers: [Address: [StoredValue]] = [:]
  /// The spellings of the sources that have other names for keys, by rank.
  private(set) var spellings: [Int: KeySpelling] = [:]
  /// The names of keys that were read, because they cost more than a probe; at most `maximumNames`.
  private var names: [Spelled: [QualifiedKey]] = [:]
  private static let maximumNames = 1_000

  private struct Spelled: Hashable {
    let key: QualifiedKey
    let spelling: KeySpelling
  }

  /// Adds a source. Returns false if the source was added before.
  ///
  /// - Parameters:
  ///   - source: the source.
  ///   - spelling: the spelling of the source. Read beforehand, because it is user code.
  ///   - isAsked: whether the source is asked for keys. Read beforehand, too.
  mutating func add(_ source: any ConfigurationSource, spelling: KeySpelling, isAsked: Bool) -> Bool {
    guard ranks[ObjectIdentifier(source)] == nil else { return false }
    ranks[ObjectIdentifier(source)] = sources.count
    if !spelling.isExact { spellings[sources.count] = spelling }
    sources.append(source)
    if isAsked { asked.append(source) }
    return true
  }

  /// Adds or replaces a value of a source.
  ///
  /// - Parameter traits: the properties of the source. Read beforehand, because they are user code.
  /// - Returns: the source's own value that was replaced, or nil.
  mutating func put(
    _ item: ConfigurationItem, of source: any ConfigurationSource, _ traits: SourceTraits, isChange: Bool
  ) throws(EnvironmentError) -> StoredValue? {
    guard !item.key.isEmpty else {
      throw EnvironmentError(cause: .valueWithoutKey, "\(traits.url) has a configuration value without a key")
    }
    _ = add(source, spelling: traits.spelling, isAsked: traits.isAsked)
    let rank = ranks[ObjectIdentifier(source)] ?? sources.count
    let address = Address(key: item.qualifiedKey, scope: item.scope)
    let value = StoredValue(item, traits, rank: rank)
    let canOverrule = traits.canOverrule
    var stack = layers[address] ?? []
    let position = stack.firstIndex { $0.rank >= rank } ?? stack.endIndex
    var replaced: StoredValue?
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

  /// Returns the values of one source.
  func values(of source: any ConfigurationSource) -> [Address: StoredValue] {
    guard let rank = ranks[ObjectIdentifier(source)] else { return [:] }
    return layers.compactMapValues { stack in stack.first { $0.rank == rank } }
  }

  /// Returns the value of one source.
  func value(_ address: Address, of source: any ConfigurationSource) -> StoredValue? {
    guard let rank = ranks[ObjectIdentifier(source)] else { return nil }
    return layers[address]?.first { $0.rank == rank }
  }

  /// Replaces all values of a source, or none if one of them is refused.
  ///
  /// - Parameters:
  ///   - items: the new values.
  ///   - source: the source.
  ///   - traits: the properties of the source. Read beforehand, because they are user code.
  ///   - kept: the values that stay, unless another change has replaced them since.
  /// - Returns: the keys whose values have changed, and the store with the old values.
  mutating func replace(
    _ items: [Address: ConfigurationItem], of source: any ConfigurationSource, _ traits: SourceTraits,
    except kept: [Address: StoredValue]
  ) throws(EnvironmentError) -> (changed: Set<QualifiedKey>, old: ConfigurationStore) {
    let old = self
    var new = self
    var changed: Set<QualifiedKey> = []
    for address in values(of: source).keys where items[address] == nil {
      _ = new.remove(address, of: source)
      changed.insert(address.key)
    }
    for (address, item) in items {
      if let value = kept[address], value === self.value(address, of: source) { continue }
      _ = try new.put(item, of: source, traits, isChange: true)
      changed.insert(address.key)
    }
    self = new
    return (changed, old)
  }

  /// Removes the value of one source.
  mutating func remove(_ address: Address, of source: any ConfigurationSource) -> StoredValue? {
    guard let rank = ranks[ObjectIdentifier(source)], var stack = layers[address],
      let position = stack.firstIndex(where: { $0.rank == rank })
    else { return nil }
    let removed = stack.remove(at: position)
    layers[address] = stack.isEmpty ? nil : stack
    return removed
  }

  /// Removes all values of the source, and the source itself if it was added last; otherwise its rank stays taken.
  mutating func withdraw(_ source: any ConfigurationSource) -> [StoredValue] {
    guard let rank = ranks.removeValue(forKey: ObjectIdentifier(source)) else { return [] }
    var removed: [StoredValue] = []
    for (address, stack) in layers where stack.contains(where: { $0.rank == rank }) {
      let rest = stack.filter { $0.rank != rank }
      removed += stack.filter { $0.rank == rank }
      layers[address] = rest.isEmpty ? nil : rest
    }
    spellings[rank] = nil
    asked.removeAll { $0 === source }
    if rank == sources.count - 1 { sources.removeLast() }
    return removed
  }

  /// The item that decides about a key.
  enum Decision {
    /// The item has the value of the key.
    case value(StoredValue)
    /// The item takes the value back, or has a list without the element of the key.
    case noValue(StoredValue)

    /// The value of the key.
    var value: StoredValue? { if case .value(let value) = self { value } else { nil } }
    /// The item, with or without the value.
    var item: StoredValue {
      switch self {
      case .value(let item), .noValue(let item): item
      }
    }
  }

  /// Returns the item that decides about a key in a scope; nil if there is none. A specific scope has precedence over a
  /// general one.
  ///
  /// The last source with a value for a list has all its elements. Later sources may change them; those of earlier
  /// sources and scopes are hidden.
  mutating func find(_ key: QualifiedKey, scope: String) -> Decision? {
    let lists = key.lists
    var scope = Substring(scope)
    while true {
      let address = Address(key: key, scope: String(scope))
      let list = lists.compactMap { Self.effective(candidates(Address(key: $0, scope: address.scope))) }
        .max { $0.rank < $1.rank }
      var values = candidates(address)
      if let list { values.removeAll { $0.rank < list.rank } }
      if let found = Self.effective(values) { return found.item.isWithoutValue ? .noValue(found) : .value(found) }
      if let list { return .noValue(list) }
      if scope.isEmpty { return nil }
      scope = scope.lastIndex(of: ".").map { scope[..<$0] } ?? ""
    }
  }

  /// Returns the values for a key in exactly one scope by ascending rank, at most one of each source: the one of the
  /// exact key, else the one of the first name that the source has.
  mutating func candidates(_ address: Address) -> [StoredValue] {
    var found = layers[address] ?? []
    if spellings.isEmpty { return found }
    for (rank, spelling) in spellings where !found.contains(where: { $0.rank == rank }) {
      for name in spelled(address.key, spelling) {
        let values = layers[Address(key: name, scope: address.scope)] ?? []
        guard let value = values.first(where: { $0.rank == rank }) else { continue }
        found.append(value)
        break
      }
    }
    found.sort { $0.rank < $1.rank }
    return found
  }

  /// Returns the value that a reader gets. A source that cannot overrule others leaves the names of earlier sources in
  /// force.
  static func effective(_ candidates: [StoredValue]) -> StoredValue? {
    candidates.last { $0.canOverrule } ?? candidates.first
  }

  /// Returns the values for a key in exactly one scope: the effective one, then the others, later sources first.
  mutating func byPrecedence(_ address: Address) -> [StoredValue] {
    let candidates = candidates(address)
    guard let first = Self.effective(candidates) else { return [] }
    return [first] + candidates.reversed().filter { $0 !== first }
  }

  private mutating func spelled(_ key: QualifiedKey, _ spelling: KeySpelling) -> [QualifiedKey] {
    let spelled = Spelled(key: key, spelling: spelling)
    if let known = names[spelled] { return known }
    let found = spelling.names(of: key).map { QualifiedKey($0) }
    if names.count < Self.maximumNames { names[spelled] = found }
    return found
  }

  /// Drops the references to the sources; the values remain readable.
  mutating func close() -> [any ConfigurationSource] {
    defer { (sources, ranks, asked) = ([], [:], []) }
    return sources
  }

  private static func conflict(_ earlier: StoredValue, _ later: StoredValue) -> EnvironmentError {
    let scope = later.item.scope.isEmpty ? "" : " in scope '\(later.item.scope)'"
    return EnvironmentError(
      cause: .repeatedValue,
      "configuration value '\(later.item.qualifiedKey)'\(scope) of \(earlier.url) is given once more by \(later.url), "
        + "which cannot overrule", path: ["'\(later.item.qualifiedKey)'"])
  }
}
