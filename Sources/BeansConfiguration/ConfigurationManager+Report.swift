@_spi(BeansPackage) import BeansErrors

extension ConfigurationManager {
  /// Returns all values by source as text for people, in the order in which the sources were added; the parent's values
  /// follow.
  ///
  /// The text contains values, long ones cut, and of secrets only the keys. For each value it names the keys that were
  /// read as it under other names, and the source and name that override it. Callable from any thread.
  public func report() -> String {
    var lines = ["### CONFIGURATION REPORT"]
    for (distance, manager) in chain.enumerated() {
      if distance > 0 { lines.append("inherited:") }
      let (sources, layers, served) = manager.state.withLock { state in
        let addresses = state.store.layers.keys.map { address in
          (address, state.store.candidates(address), state.store.find(address.key, scope: address.scope)?.item)
        }
        return (state.store.sources, addresses, state.served)
      }
      var values: [Int: [String]] = [:]
      for (address, candidates, winner) in layers {
        for value in candidates where value.address == address {
          values[value.rank, default: []].append(describe(value, winner: winner ?? value, served[address] ?? []))
        }
      }
      for (rank, source) in sources.enumerated() where values[rank] != nil {
        lines.append("- \(source.url)\(source.canOverrule ? ", can overrule" : "")")
        lines += (values[rank] ?? []).sorted().map { "    \($0)" }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the line of a value.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - winner: the value that a reader of the same key gets.
  ///   - keys: the other keys that were read as this value.
  private func describe(
    _ value: StoredValue, winner: StoredValue, _ keys: Set<QualifiedKey>
  ) -> String {
    let scope = value.item.scope.isEmpty ? "" : " scope: \(value.item.scope)"
    let dynamic = value.item.dynamic ? " dynamic: true" : ""
    let readers = keys.isEmpty ? "" : " read as: \(keys.map { "\($0)" }.sorted().joined(separator: ", "))"
    let overruled = value === winner ? "" : " overruled by: \(winner.place(readAs: value.item.qualifiedKey))"
    return "\(value.item.qualifiedKey) = \(shown(value))"
      + scope + dynamic + readers + overruled
  }
}
