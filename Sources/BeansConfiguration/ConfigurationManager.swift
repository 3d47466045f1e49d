import BeansErrors
@_spi(BeansPackage) import BeansSupport

/// The configuration values of an environment: its own sources' and, behind them, those of its parent.
///
/// The nearest environment that has a value for a key decides; within it the most specific scope, and there the source
/// that was added last. A source that brings a value which an earlier one has must be one that `canOverrule`. Injectable
/// like any bean. Everything may be called from any thread; a read costs a lock and a probe for each environment and scope
/// that is searched, and the first read as a type the conversion to it.
public final class ConfigurationManager: Sendable {
  let parent: ConfigurationManager?
  /// How values become what readers ask for.
  public let conversions: StandardConversionFactory
  let state = Locked(State())

  struct State {
    var store = ConfigurationStore()
    /// Those of this manager and of the ones below it.
    var listeners: [QualifiedKey: [ConfigurationObserver]] = [:]
    /// What sources have brought whose `load` has not returned: listeners are told afterwards.
    var loading: [ObjectIdentifier: [QualifiedKey]] = [:]
    /// The addresses that were read here or below, while no source had them, for reports. Kept by a manager without a parent; no
    /// more than `maximumMissed`, because readers may make up keys.
    var missed: Set<ConfigurationStore.Address> = []
  }

  /// Creates an empty manager. Environments bring their own; one by itself needs no environment.
  ///
  /// - Parameters:
  ///   - parent: whose values are seen behind those of this manager.
  ///   - conversions: a factory of its own that knows what the parent's knows, unless given.
  public init(parent: ConfigurationManager? = nil, conversions: StandardConversionFactory? = nil) {
    self.parent = parent
    self.conversions = conversions ?? StandardConversionFactory(parent: parent?.conversions)
  }

  deinit { forgetListeners() }

  // MARK: sources

  /// Loads the source, once: adding the same object again does nothing.
  ///
  /// - Parameters:
  ///   - source: where the values come from.
  ///   - file: where it is added, as errors say it.
  ///   - line: where in the file.
  /// - Throws: what `load` throws; `.invalidDeclaration` for a value that the source cannot overrule. Nothing of the
  ///   source is kept then.
  public func addSource(
    _ source: any ConfigurationSource, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    do { try load(source) } catch let error as EnvironmentError { throw error.met(by: .init(file, line)) }
  }

  /// Adds a source for whoever says where it comes from.
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
  /// - Throws: `.invalidDeclaration`, naming both sources, for a value that is there already and cannot be overruled; for
  ///   an empty key.
  public func configurationAdded(_ item: ConfigurationItem, source: any ConfigurationSource) throws {
    try put(item, source, isChange: false)
  }

  /// Replaces a value of a source, or adds one. What a later source overrules stays overruled.
  ///
  /// Listeners are called before this returns, on this thread, unless another thread is calling them just then.
  ///
  /// - Throws: as `configurationAdded`, unless the value that is there is the source's own.
  public func configurationChanged(_ item: ConfigurationItem, source: any ConfigurationSource) throws {
    try put(item, source, isChange: true)
  }

  /// Takes back a value of a source: what it hid can be seen again. Does nothing where the source has none.
  ///
  /// - Parameters:
  ///   - namespace: where the key stands.
  ///   - key: names the value.
  ///   - scope: where the value holds, as the source has said it.
  ///   - source: whose value it is.
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

  /// After the end of the environment: lets go of sources and listeners. Values can still be read.
  package func close() {
    forgetListeners()
    _ = state.withLock { $0.store.close() }
  }

  // MARK: reading

  /// Whether there is a value here or in a parent.
  ///
  /// - Parameters:
  ///   - namespace: where the key stands.
  ///   - key: names the value.
  ///   - scope: a dotted path; a value for "a.b" holds for "a.b.c", too.
  public func hasValue(namespace: String = "", key: String, scope: String = "") -> Bool {
    find(QualifiedKey(namespace: namespace, key: key), scope: scope) != nil
  }

  /// The value as `T`, converted if need be, or the default. An optional `T` is nil where there is neither.
  ///
  /// - Parameters:
  ///   - type: what the value is converted to.
  ///   - namespace: of the key.
  ///   - key: whose value is wanted.
  ///   - defaultValue: what is returned where there is no value.
  ///   - scope: a dotted path; a value for "a.b" holds for "a.b.c", and is preferred to one for "a".
  ///   - file: where it is read, as errors say it.
  ///   - line: where in the file.
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

  /// The nearest manager's value for the most specific scope; for a reader, so that reports name a key that is missing.
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
    // Kept where all readers convert alike, and a copy shares nothing with the original.
    let isKept = (_isPOD(type) || type == String.self) && convertsAsOwner(of: value)
    if isKept, let known = value.converted(to: type), let known = known as? T { return known }
    guard let result = try convert(value, to: type) as? T else {
      throw EnvironmentError(.typeMismatch, "configuration value '\(value.item.qualifiedKey)' is not a \(type)")
    }
    // Sendable by being plain memory, or text.
    if isKept { unsafe value.keep(unsafeBitCast(result as Any, to: (any Sendable).self), as: type) }
    return result
  }

  /// The value for a type that only startup knows.
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

  /// Whether a child that reads an inherited value would convert it as its owner does.
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

  /// Names what is missing, and what may have been meant.
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
