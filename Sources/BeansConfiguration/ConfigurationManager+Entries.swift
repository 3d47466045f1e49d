@_spi(BeansPackage) import BeansErrors

/// One value of a source, or a key that was read without a value in any source. Contains no value.
package struct ConfigurationEntry: Sendable, Hashable {
  /// `key` or `namespace:key`.
  package let key: String
  /// The scope of the value; empty for everywhere.
  package let scope: String
  /// The name of the source; nil if no source has a value, so that the reader's default applies.
  package let source: String?
  /// The name that the source has for the key; nil if it is the key itself.
  package let name: String?
  /// The other keys that were read as this value, because they share the name.
  package let readAs: [String]
  package let isDynamic: Bool
  /// The source whose value overrides this one, with its name for the key if that is another; nil if there is none.
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
    var addresses: Set<ConfigurationStore.Address> = []
    var served: [ConfigurationStore.Address: Set<QualifiedKey>] = [:]
    for manager in chain {
      let known = manager.state.withLock { ($0.store.layers.keys, $0.missed, $0.served) }
      addresses.formUnion(known.0)
      addresses.formUnion(known.1)
      for (address, keys) in known.2 {
        served[address, default: []].formUnion(keys)
        addresses.formUnion(keys.map { .init(key: $0, scope: address.scope) })
      }
    }
    return addresses.sorted { ("\($0.key)", $0.scope) < ("\($1.key)", $1.scope) }.flatMap { address in
      let values = chain.enumerated().flatMap { distance, manager in
        manager.state.withLock { $0.store.byPrecedence(address) }.map { (value: $0, distance: distance) }
      }
      let winner = decision(address.key, scope: address.scope)
      if values.isEmpty, winner?.value != nil { return [] as [ConfigurationEntry] }
      return Self.entries(values, winner?.item, address, (served[address] ?? []).map { "\($0)" }.sorted())
    }
  }

  /// Returns the entries of one address.
  ///
  /// - Parameters:
  ///   - values: the values of the address, the effective one first; empty if no source has one.
  ///   - winner: the item that decides about the key.
  ///   - address: the key and the scope.
  ///   - keys: the other keys that were read as a value of this address.
  private static func entries(
    _ values: [(value: StoredValue, distance: Int)], _ winner: StoredValue?, _ address: ConfigurationStore.Address,
    _ keys: [String]
  ) -> [ConfigurationEntry] {
    let (key, scope) = ("\(address.key)", address.scope)
    if values.isEmpty {
      return [
        ConfigurationEntry(
          key: key, scope: scope, source: nil, name: nil, readAs: keys, isDynamic: false, overruledBy: nil,
          overrules: [], distance: 0)
      ]
    }
    let places = values.map { $0.value.place(readAs: address.key) }
    let place = (winner ?? values[0].value).place(readAs: address.key)
    return values.enumerated().map { position, entry in
      let name = entry.value.item.qualifiedKey
      return ConfigurationEntry(
        key: key, scope: scope, source: entry.value.url, name: name == address.key ? nil : "\(name)",
        readAs: name == address.key ? keys : [], isDynamic: entry.value.item.dynamic,
        overruledBy: entry.value === winner ? nil : place, overrules: Array(places[(position + 1)...]),
        distance: entry.distance)
    }
  }
}
