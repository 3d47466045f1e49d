@_spi(BeansPackage) import BeansSupport

extension ConfigurationManager {
  /// Returns all values by source as text for people, in the order in which the sources were added; the parent's values
  /// follow.
  ///
  /// The text contains values, long ones cut: keep secrets out of its uses. Callable from any thread.
  public func report() -> String {
    var lines = ["### CONFIGURATION REPORT"]
    for (distance, manager) in chain.enumerated() {
      if distance > 0 { lines.append("inherited:") }
      let (sources, layers) = manager.state.withLock { ($0.store.sources, $0.store.layers) }
      var values: [Int: [String]] = [:]
      for (address, stack) in layers {
        for value in stack {
          values[value.rank, default: []].append(Self.describe(value, address, winner: stack.last ?? value))
        }
      }
      for (rank, source) in sources.enumerated() where values[rank] != nil {
        lines.append("- \(source.url)\(source.canOverrule ? ", can overrule" : "")")
        lines += (values[rank] ?? []).sorted().map { "    \($0)" }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func describe(
    _ value: ConfigurationValue, _ address: ConfigurationStore.Address, winner: ConfigurationValue
  ) -> String {
    let scope = address.scope.isEmpty ? "" : " scope: \(address.scope)"
    let dynamic = value.item.dynamic ? " dynamic: true" : ""
    let overruled = value === winner ? "" : " overruled by: \(winner.url)"
    return "\(address.key) = \(ConversionFailure.quote(value.item.value))\(scope)\(dynamic)\(overruled)"
  }
}
