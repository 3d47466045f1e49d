@_spi(BeansPackage) import BeansSupport

/// One value of a source, or a key that was read without a value in any source. Contains no value.
package struct ConfigurationEntry: Sendable, Hashable {
  /// `key` or `namespace:key`.
  package let key: String
  /// The scope of the value; empty for everywhere.
  package let scope: String
  /// The name of the source; nil if no source has a value, so that the reader's default applies.
  package let source: String?
  package let isDynamic: Bool
  /// The source whose value overrides this one; nil if there is none.
  package let overruledBy: String?
  /// The sources whose values this one overrides, or would override, the nearest first.
  package let overrules: [String]
  /// The number of managers between the reader and the owner: 0 for the manager itself.
  package let distance: Int
}

extension ConfigurationManager {
  /// The values here and in the parents with their sources, in the order of their keys, for each key the effective
  /// value before those that it overrides; then the keys that were read without a value in any source. Contains no
  /// values: they may be secrets.
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

  /// Returns the entries of one address.
  ///
  /// - Parameter values: the values of the address, the effective one first; empty if no source has one.
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
