@_spi(BeansPackage) import BeansSupport

/// One value that a source has brought, without the value.
package struct ConfigurationEntry: Sendable, Hashable {
  /// `key` or `namespace:key`.
  package let key: String
  /// Where it holds; empty for everywhere.
  package let scope: String
  /// What its source is called.
  package let source: String
  package let isDynamic: Bool
  /// Whether another source's value hides it.
  package let isOverruled: Bool
  /// How many managers stand before the one that has it: 0 for the manager itself.
  package let distance: Int
}

extension ConfigurationManager {
  /// Which values there are here and in the parents, and where they come from, in the order of their keys. No values: they
  /// may be secrets.
  package var entries: [ConfigurationEntry] {
    var entries: [ConfigurationEntry] = []
    var hidden: Set<ConfigurationStore.Address> = []
    for (distance, manager) in chain.enumerated() {
      let layers = manager.state.withLock { $0.store.layers }
      for (address, stack) in layers {
        for value in stack.reversed() {
          entries.append(
            ConfigurationEntry(
              key: address.key.description, scope: address.scope, source: value.url, isDynamic: value.item.dynamic,
              isOverruled: value !== stack.last || hidden.contains(address), distance: distance))
        }
      }
      hidden.formUnion(layers.keys)
    }
    return entries.sorted { ($0.key, $0.scope, $0.distance) < ($1.key, $1.scope, $1.distance) }
  }
}
