@_spi(BeansPackage) import BeansErrors

/// The keys and names that the sources of a manager and of its parents have, at one moment.
struct KnownKeys {
  /// The value of each key, of the nearest manager and its last source.
  private(set) var values: [QualifiedKey: StoredValue] = [:]
  /// The keys above the known keys: `mail` and `mail.server` for `mail.server.port`.
  private var sections: Set<QualifiedKey> = []
  /// The values whose sources have other names for keys, by their names.
  private var spelled: [KeySpelling: [String: StoredValue]] = [:]
  private let manager: ConfigurationManager

  init(_ manager: ConfigurationManager) {
    self.manager = manager
    for owner in manager.chain {
      for (address, stack) in owner.state.withLock({ $0.store.layers }) {
        guard let value = stack.last, !value.item.isWithoutValue else { continue }
        if isHidden(value, at: address.key) { continue }
        if values[address.key] == nil { values[address.key] = value }
        for value in stack where !value.spelling.isExact {
          spelled[value.spelling, default: [:]][value.name] = value
        }
      }
    }
    for key in values.keys {
      var section = key
      while let outer = section.section, sections.insert(outer).inserted { section = outer }
    }
  }

  /// Whether a value is one of an element, and a later source has the list.
  private func isHidden(_ value: StoredValue, at key: QualifiedKey) -> Bool {
    key.lists.contains { list in
      guard let item = manager.decision(list, scope: value.item.scope)?.item else { return false }
      return manager.isLater(item, than: value)
    }
  }

  /// Whether a source has the exact key, or one below it.
  func hasExact(_ key: QualifiedKey) -> Bool { values[key] != nil || sections.contains(key) }

  /// Whether a source has a value for the key or below it, or a name that may be one.
  func has(_ key: QualifiedKey) -> Bool {
    hasExact(key)
      || spelled.contains { spelling, values in
        spelling.names(of: key).contains { name in values[name].map { !isHidden($0, at: key) } ?? false }
          || !rests(values, spelling, key).isEmpty
      }
  }

  /// Returns the names of the keys below a section, in order.
  ///
  /// - Parameters:
  ///   - section: the section.
  ///   - areLeaves: whether a name is all of the rest of a key; otherwise, it is the first part of that.
  func children(of section: QualifiedKey, areLeaves: Bool) -> [String] {
    let exact = values.keys.compactMap { $0.rest(below: section) }
    var found = Set(exact)
    for (spelling, values) in spelled where !section.isRoot || spelling.isOfProgram {
      let known = Set(exact.flatMap { spelling.names(of: section.child($0)) })
      for (name, rest) in rests(values, spelling, section) where !known.contains(name) {
        found.insert(spelling.key(ofRest: rest))
      }
    }
    let names = areLeaves ? found : Set(found.compactMap { $0.split(separator: ".").first.map { String($0) } })
    return names.filter { !$0.isEmpty }.sorted()
  }

  /// Returns the values below a section that belong to none of the keys.
  func values(below section: QualifiedKey, except keys: Set<QualifiedKey>) -> [StoredValue] {
    let exact = values.filter { key, value in
      key.rest(below: section) != nil && !keys.contains(key) && value.spelling.isExact
    }.map(\.value)
    var others: [StoredValue] = []
    for (spelling, values) in spelled where !section.isRoot || spelling.isOfProgram {
      let below = Set(rests(values, spelling, section).map(\.name))
      let known = Set(keys.flatMap { spelling.names(of: $0) })
      others += values.values.filter { value in
        let key = value.item.qualifiedKey
        let isBelow = below.contains(value.name) || key.rest(below: section) != nil
        return isBelow && !keys.contains(key) && !known.contains(value.name)
      }
    }
    return (exact + others).sorted { ($0.name, $0.place) < ($1.name, $1.place) }
  }
}

extension KnownKeys {
  /// Returns the names of keys below a section, each with its rest.
  private func rests(
    _ values: [String: StoredValue], _ spelling: KeySpelling, _ section: QualifiedKey
  ) -> [(name: String, rest: String)] {
    let beginnings = spelling.beginnings(of: section)
    return values.compactMap { name, value in
      guard let beginning = beginnings.first(where: { name.hasPrefix($0) && name != $0 }) else { return nil }
      let rest = String(name.dropFirst(beginning.count))
      if isHidden(value, at: section.child(spelling.key(ofRest: rest))) { return nil }
      return (name, rest)
    }
  }
}

extension QualifiedKey {
  /// Whether this is the section of all keys without a namespace.
  var isRoot: Bool { namespace.isEmpty && key.isEmpty }

  /// The section of the key; nil for a section that has none.
  var section: QualifiedKey? {
    if key.isEmpty { return nil }
    return QualifiedKey(namespace: namespace, key: key.lastIndex(of: ".").map { String(key[..<$0]) } ?? "")
  }

  /// The last part of the key.
  var lastName: String { key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key }

  /// Returns the key below this one with that name.
  func child(_ name: String) -> QualifiedKey {
    QualifiedKey(namespace: namespace, key: key.isEmpty ? name : "\(key).\(name)")
  }

  /// Returns the rest of the key below a section; nil if it is not below it.
  func rest(below section: QualifiedKey) -> String? {
    guard namespace == section.namespace else { return nil }
    if section.key.isEmpty { return key.isEmpty ? nil : key }
    guard key.hasPrefix("\(section.key).") else { return nil }
    let rest = key.dropFirst(section.key.count + 1)
    return rest.isEmpty ? nil : String(rest)
  }
}
