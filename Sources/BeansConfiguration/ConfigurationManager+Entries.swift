@_spi(BeansPackage) import BeansSupport

/// One value that a source has brought, or a key that was read but that no source has; without the value.
package struct ConfigurationEntry: Sendable, Hashable {
  /// `key` or `namespace:key`.
  package let key: String
  /// The scope in which it holds; empty for everywhere.
  package let scope: String
  /// The name of its source; nil where no source has it, so that the default of its reader holds.
  package let source: String?
  package let isDynamic: Bool
  /// The source whose value hides this one; nil where none does.
  package let overruledBy: String?
  /// The sources whose values this one hides, or would hide: the nearest first.
  package let overrules: [String]
  /// The number of managers before the one that has it: 0 for the manager itself.
  package let distance: Int
}

extension ConfigurationManager {
  /// The values here and in the parents with their sources, in the order of their keys, and for each key the value that holds
  /// before those that it hides; then keys that were read but that no source has. No values: they may be secrets.
  package var entries: [ConfigurationEntry] {
    var found: [ConfigurationStore.Address: [(value: ConfigurationValue, distance: Int)]] = [:]
    var missed: Set<ConfigurationStore.Address> = []
    for (distance, manager) in chain.enumerated() {
      let state = manager.state.withLock { ($0.store.layers, $0.missed) }
      missed.formUnion(state.1)
      for (address, stack) in state.0 {
        found[address, default: []] += stack.reversed().map { ($0, distance) }
      }
    }
    let addresses = Set(found.keys).union(missed.filter { find($0.key, scope: $0.scope) == nil })
    return addresses.sorted { ("\($0.key)", $0.scope) < ("\($1.key)", $1.scope) }.flatMap { address in
      Self.entries(found[address] ?? [], address)
    }
  }

  /// - Parameter values: of one address, the one that holds first; empty where no source has one.
  private static func entries(
    _ values: [(value: ConfigurationValue, distance: Int)], _ address: ConfigurationStore.Address
  ) -> [ConfigurationEntry] {
    let (key, scope) = ("\(address.key)", address.scope)
    if values.isEmpty {
      return [
        ConfigurationEntry(
          key: key, scope: scope, source: nil, isDynamic: false, overruledBy: nil, overrules: [], distance: 0)
      ]
    }
    let sources = values.map(\.value.url)
    return values.enumerated().map { position, entry in
      ConfigurationEntry(
        key: key, scope: scope, source: entry.value.url, isDynamic: entry.value.item.dynamic,
        overruledBy: position == 0 ? nil : sources[0], overrules: Array(sources[(position + 1)...]),
        distance: entry.distance)
    }
  }
}
