import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// The configuration values of an environment: those of its own sources and, behind them, those of its parent.
///
/// The nearest environment with a value for a key decides; within it the most specific scope, and there the source that
/// was added last. A source may repeat a key of an earlier source only if it `canOverrule`. Injectable like any bean.
/// All members are callable from any thread; a read costs a lock and a probe for each environment and scope that is
/// searched, and the first read as a type the conversion to it.
public final class ConfigurationManager: Sendable {
  let parent: ConfigurationManager?
  /// The conversions from stored values to the types of readers.
  public let conversions: StandardConversionFactory
  let state = Locked(State())

  struct State {
    var store = ConfigurationStore()
    /// The listeners of this manager and of its descendants.
    var listeners: [QualifiedKey: [ConfigurationObserver]] = [:]
    /// The keys that sources have added whose `load` has not returned. Listeners are notified afterwards.
    var loading: [ObjectIdentifier: [QualifiedKey]] = [:]
    /// The addresses that were read here or below without a value in any source, for reports. Stored by a manager
    /// without a parent; at most `maximumMissed`, because readers may make up keys.
    var missed: Set<ConfigurationStore.Address> = []
  }

  /// Creates an empty manager. Environments create their own; a manager also works without an environment.
  ///
  /// - Parameters:
  ///   - parent: the manager whose values are visible behind those of this manager.
  ///   - conversions: the conversion factory; by default a new one behind which the parent's conversions are visible.
  public init(parent: ConfigurationManager? = nil, conversions: StandardConversionFactory? = nil) {
    self.parent = parent
    self.conversions = conversions ?? StandardConversionFactory(parent: parent?.conversions)
  }

  deinit { forgetListeners() }

  // MARK: sources

  /// Loads the source once: adding the same object again has no effect.
  ///
  /// - Parameters:
  ///   - source: the source of the values.
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: the error that `load` throws; `.invalidDeclaration` for a value that the source cannot overrule. The
  ///   manager then keeps no value of the source.
  public func addSource(
    _ source: any ConfigurationSource, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    do { try load(source) } catch let error as EnvironmentError { throw error.met(by: .init(file, line)) }
  }

  /// Adds a source on behalf of a caller that adds the origin to the error.
  ///
  /// - Throws: as `addSource`.
  package func load(_ source: any ConfigurationSource) throws {
    let id = ObjectIdentifier(source)
    let isNew = state.withLock { state in
      guard state.store.add(source) else { return false }
      state.loading[id] = []
      return true
    }
    guard isNew else { return }
    do {
      try source.load(self)
    } catch {
      _ = state.withLock { state in
        state.loading[id] = nil
        return state.store.withdraw(source)
      }
      throw error
    }
    let keys = state.withLock { $0.loading.removeValue(forKey: id) ?? [] }
    for key in Set(keys) { notify(key) }
  }

  /// Adds a value of a source.
  ///
  /// - Throws: `.invalidDeclaration` for an existing value that cannot be overruled (the error names both sources), and
  ///   for an empty key.
  public func configurationAdded(_ item: ConfigurationItem, source: any ConfigurationSource) throws {
    try put(item, source, isChange: false)
  }

  /// Replaces a value of a source, or adds one. A value that a later source overrules stays overruled.
  ///
  /// Listeners are called before this returns, on this thread, unless another thread is calling them at that moment.
  ///
  /// - Throws: as `configurationAdded`, unless the existing value belongs to the source itself.
  public func configurationChanged(_ item: ConfigurationItem, source: any ConfigurationSource) throws {
    try put(item, source, isChange: true)
  }

  /// Removes a value of a source: the value that it overruled becomes visible again. Has no effect if the source has
  /// none.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: the scope of the value, as in the item of the source.
  ///   - source: the source of the value.
  public func configurationRemoved(
    namespace: String = "", key: String, scope: String = "", source: any ConfigurationSource
  ) {
    let key = QualifiedKey(namespace: namespace, key: key)
    let removed = state.withLock { $0.store.remove(.init(key: key, scope: scope), of: source) }
    if removed != nil { notify(key) }
  }

  private func put(_ item: ConfigurationItem, _ source: any ConfigurationSource, isChange: Bool) throws {
    let (url, canOverrule) = (source.url, source.canOverrule)
    let id = ObjectIdentifier(source)
    let (isLoading, _) = try state.withLock { state throws(EnvironmentError) in
      let replaced = try state.store.put(
        item, of: source, url: url, canOverrule: canOverrule, isChange: isChange)
      state.loading[id]?.append(item.qualifiedKey)
      return (state.loading[id] != nil, replaced)
    }
    if !isLoading { notify(item.qualifiedKey) }
  }

  /// Undoes `addSource`, as if the source had never been added.
  package func withdraw(_ source: any ConfigurationSource) { state.withLock { _ = $0.store.withdraw(source) } }

  /// Drops the references to sources and listeners after the end of the environment. Values remain readable.
  package func close() {
    forgetListeners()
    _ = state.withLock { $0.store.close() }
  }

  // MARK: reading

  /// Whether a value exists here or in a parent.
  ///
  /// - Parameters:
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: a dotted path; a value for "a.b" applies to "a.b.c", too.
  public func hasValue(namespace: String = "", key: String, scope: String = "") -> Bool {
    find(QualifiedKey(namespace: namespace, key: key), scope: scope) != nil
  }

  /// Returns the value as `T`, converted if needed, or the default. For an optional `T`, returns nil if there is
  /// neither.
  ///
  /// - Parameters:
  ///   - type: the target type of the conversion.
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - defaultValue: the result if there is no value.
  ///   - scope: a dotted path; a value for "a.b" applies to "a.b.c", with precedence over one for "a".
  ///   - file: the file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.missingConfiguration`; `.noConversion` or `.conversionFailed` for a value that is no `T`.
  public func getValue<T>(
    _ type: T.Type, namespace: String = "", key: String, defaultValue: T? = nil, scope: String = "",
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> T {
    let key = QualifiedKey(namespace: namespace, key: key)
    do throws(EnvironmentError) {
      if let value = find(key, scope: scope) { return try read(value, as: type) }
      if let defaultValue { return defaultValue }
      if let optional = type as? any OptionalConversion.Type, let absent = optional.absent as? T { return absent }
      throw missing(key, scope: scope, .missingConfiguration)
    } catch { throw error.met(by: .init(file, line)) }
  }

  private static let maximumMissed = 1_000

  /// Returns the nearest manager's value for the most specific scope. Records a missing key for reports: callers are
  /// readers.
  func find(_ key: QualifiedKey, scope: String) -> ConfigurationValue? {
    var next: ConfigurationManager? = self
    while let manager = next {
      let found = manager.state.withLock { state in
        let found = state.store.find(key, scope: scope)
        if found == nil, manager.parent == nil, state.missed.count < Self.maximumMissed {
          state.missed.insert(.init(key: key, scope: scope))
        }
        return found
      }
      if let found { return found }
      next = manager.parent
    }
    return nil
  }

  func read<T>(_ value: ConfigurationValue, as type: T.Type) throws(EnvironmentError) -> T {
    if let value = value.item.value as? T { return value }
    // Kept only if all readers convert alike, and if a copy shares nothing with the original.
    let isKept = (_isPOD(type) || type == String.self) && convertsAsOwner(of: value)
    if isKept, let known = value.converted(to: type), let known = known as? T { return known }
    guard let result = try convert(value, to: type) as? T else {
      throw EnvironmentError(.typeMismatch, "configuration value '\(value.item.qualifiedKey)' is not a \(type)")
    }
    // Sendable because the value is plain memory, or text.
    if isKept { unsafe value.keep(unsafeBitCast(result as Any, to: (any Sendable).self), as: type) }
    return result
  }

  /// Returns the value converted to a type that is known only at startup.
  func convert(_ value: ConfigurationValue, to type: Any.Type) throws(EnvironmentError) -> Any {
    do throws(EnvironmentError) {
      return try conversions.convert(value.item.value, targetType: type)
    } catch {
      let key = "'\(value.item.qualifiedKey)'"
      throw EnvironmentError(
        cause: error.cause, "configuration value \(key) of \(value.url): \(error.message)",
        steps: [EnvironmentError.Step(key)], origin: nil, underlying: error.underlying)
    }
  }

  /// Whether a child that reads an inherited value would convert it in the same way as its owner.
  private func convertsAsOwner(of value: ConfigurationValue) -> Bool {
    var manager = self
    while let parent = manager.parent, !manager.owns(value) { manager = parent }
    return conversions.effective === manager.conversions.effective
  }

  private func owns(_ value: ConfigurationValue) -> Bool {
    state.withLock { state in
      let address = ConfigurationStore.Address(key: value.item.qualifiedKey, scope: value.item.scope)
      return state.store.layers[address]?.last === value
    }
  }

  /// Creates the error for a missing key, with the keys that the reader may have meant.
  func missing(_ key: QualifiedKey, scope: String, _ cause: FaultCause, hints: Bool = true)
    -> EnvironmentError
  {
    let place = scope.isEmpty ? "" : " in scope '\(scope)'"
    let namespace = key.namespace.isEmpty ? "" : " in namespace '\(key.namespace)'"
    let isElsewhere = hints && cause == .missingConfiguration && knownKeys.contains(key)
    return EnvironmentError(
      cause: isElsewhere ? .otherConfigurationScope : cause,
      "no configuration value for key '\(key.key)'\(namespace)\(place), and no default"
        + (hints ? hint(for: key) : ""),
      path: ["'\(key)'"])
  }

  private var knownKeys: Set<QualifiedKey> {
    var known: Set<QualifiedKey> = []
    var next: ConfigurationManager? = self
    while let manager = next {
      known.formUnion(manager.state.withLock { $0.store.layers.keys.map(\.key) })
      next = manager.parent
    }
    return known
  }

  private func hint(for key: QualifiedKey) -> String {
    let known = knownKeys
    if known.contains(key) { return "; other scopes have one" }
    let wanted = "\(key)"
    if let sameKey = known.filter({ $0.key == key.key }).map({ "\($0)" }).min() {
      return "; did you mean '\(sameKey)'?"
    }
    let near = known.map { "\($0)" }.filter { EditDistance.isSmall($0, wanted) }.min()
    return near.map { "; did you mean '\($0)'?" } ?? ""
  }
}
