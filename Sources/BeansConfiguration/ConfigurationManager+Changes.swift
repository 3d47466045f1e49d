@_spi(BeansPackage) import BeansErrors
import Synchronization

extension ConfigurationManager {
  /// Replaces all values of a source in one change: every reader sees the old values or the new ones, and the listeners
  /// are called once all values are in force.
  ///
  /// A value that is equal to the source's old one stays, and calls no listener. Listeners are called before this
  /// returns, on this thread, unless another thread is calling them at that moment. Callable from any thread.
  ///
  /// - Parameters:
  ///   - items: all values that the source has from now on; of several for one key and scope, the last.
  ///   - source: the source, added before or not.
  /// - Throws: `.invalidDeclaration` for a value that cannot overrule that of another source, and for an empty key;
  ///   nothing has changed then.
  public func configurationReplaced(with items: [ConfigurationItem], source: any ConfigurationSource) throws {
    let traits = SourceTraits(source)
    let items = Dictionary(items.map { (ConfigurationStore.Address($0), $0) }) { $1 }
    // Compared without the lock, because the comparison is the code of the values' types.
    let kept = state.withLock { $0.store.values(of: source) }.filter { address, value in
      items[address].map { value.item.isSame(as: $0) } ?? false
    }
    let (changed, _) = try state.withLock { state throws(EnvironmentError) in
      try state.store.replace(items, of: source, traits, except: kept)
    }
    if !changed.isEmpty { notify(changed, traits.spelling) }
  }

  /// Counts a change that has been made.
  func noteChange() { changes.add(1, ordering: .releasing) }

  /// The number of changes here and above. It grows after each change, so equal numbers mean equal values.
  var changeCount: Int { chain.reduce(0) { $0 &+ $1.changes.load(ordering: .acquiring) } }

  /// Returns a manager with the values of this moment, here and above. A reader of several keys gets from it the values
  /// before a change or those after it, never a mixture. Copies no value.
  func snapshot() -> ConfigurationManager {
    if origin != nil { return self }
    let state = state.withLock { $0 }
    return ConfigurationManager(parent: parent?.snapshot(), of: self, state.store, secrets: state.secrets)
  }

  /// Asks the sources that list no keys, and stores the answers as their values.
  func ask(_ sources: [any ConfigurationSource], for key: QualifiedKey, scope: String) {
    for scope in Self.scopes(of: scope) {
      let address = ConfigurationStore.Address(key: key, scope: scope)
      for source in sources {
        let item = source.value(namespace: key.namespace, key: key.key, scope: scope).map {
          ConfigurationItem(namespace: key.namespace, key: key.key, value: $0, scope: scope, dynamic: true)
        }
        store(item, at: address, of: source)
        origin?.store(item, at: address, of: source)
      }
    }
  }

  /// Stores the answer of a source; an equal value stays.
  private func store(
    _ item: ConfigurationItem?, at address: ConfigurationStore.Address, of source: any ConfigurationSource
  ) {
    let old = state.withLock { $0.store.value(address, of: source) }
    guard let item else {
      if old != nil { _ = state.withLock { $0.store.remove(address, of: source) } }
      return
    }
    if let old, old.item.isSame(as: item) { return }
    let traits = SourceTraits(source)
    // A source that cannot overrule others is refused for a key that an earlier one has, whose value then counts.
    _ = state.withLock { try? $0.store.put(item, of: source, traits, isChange: true) }
  }

  /// The scopes in which a value of a scope may be found, the most specific first.
  private static func scopes(of scope: String) -> [String] {
    sequence(first: scope) { scope in
      scope.isEmpty ? nil : scope.lastIndex(of: ".").map { String(scope[..<$0]) } ?? ""
    }.map { $0 }
  }
}
