/// What is written of a session at the end of a request.
struct PendingSave {
  struct Entry {
    let value: any KeptValue
    let change: ValueChange
  }

  /// The version that the changes were made to.
  let version: UInt64
  let entries: [Entry]

  /// Values that the store lacks, and nobody has changed.
  var defaults: Set<String> { Set(entries.lazy.filter(\.change.isDefault).map(\.change.declaration.name)) }

  /// Without the defaults: another node has written some of them meanwhile.
  var withoutDefaults: PendingSave { PendingSave(version: version, entries: entries.filter { !$0.change.isDefault }) }

  /// The generation of each value that is written, by name.
  var generations: [String: Int] {
    Dictionary(entries.map { ($0.change.declaration.name, $0.change.generation) }) { first, _ in first }
  }

  /// All bytes, for a session that the store does not have.
  var values: [String: [UInt8]] {
    Dictionary(entries.map { ($0.change.declaration.name, $0.change.bytes) }) { first, _ in first }
  }

  /// A default never overwrites what another node has written: nobody would notice.
  var change: SessionChange {
    var change = SessionChange(version: version, values: [:])
    for entry in entries {
      let declaration = entry.change.declaration
      change.values[declaration.name] = .some(entry.change.bytes)
      if entry.change.isDefault || declaration.onConflict == .refuse {
        change.expected[declaration.name] = entry.change.seenVersion
      }
    }
    return change
  }
}
