/// The values of a session that are written at the end of a request.
struct PendingSave {
  struct Entry {
    let value: any KeptValue
    let change: ValueChange
  }

  /// The version to which the changes were made.
  let version: UInt64
  /// Whether the values were read from that version, and from no earlier one.
  let isExact: Bool
  let entries: [Entry]

  /// Values that the store lacks and that no request has changed.
  var defaults: Set<String> { Set(entries.lazy.filter(\.change.isDefault).map(\.change.declaration.name)) }

  /// The save without its defaults, for the case that another node has written some of them meanwhile.
  var withoutDefaults: PendingSave {
    PendingSave(version: version, isExact: isExact, entries: entries.filter { !$0.change.isDefault })
  }

  /// The generation of each written value, by name.
  var generations: [String: Int] {
    Dictionary(entries.map { ($0.change.declaration.name, $0.change.generation) }) { first, _ in first }
  }

  /// All bytes, for a session that the store does not have.
  var values: [String: [UInt8]] {
    Dictionary(entries.map { ($0.change.declaration.name, $0.change.bytes) }) { first, _ in first }
  }

  /// The change for the store. A default expects the version that was read, so that it never silently overwrites a
  /// value of another node.
  var change: SessionChange {
    var change = SessionChange(version: version, values: [:])
    for entry in entries {
      let declaration = entry.change.declaration
      change.values[declaration.name] = .some(entry.change.bytes)
      if isExact { change.seen[declaration.name] = entry.change.seenVersion }
      if entry.change.isDefault || declaration.onConflict == .refuse {
        change.expected[declaration.name] = entry.change.seenVersion
      }
    }
    return change
  }
}
