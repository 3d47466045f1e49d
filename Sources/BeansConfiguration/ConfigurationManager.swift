@_spi(BeansPackage) import BeansErrors
import Synchronization

/// The configuration values of an environment: those of its own sources and, behind them, those of its parent.
///
/// The nearest environment with a value for a key decides; within it the most specific scope, and there the source that
/// was added last. A source may repeat a key of an earlier source only if it `canOverrule`. Injectable like any bean.
/// All members are callable from any thread; a read costs a lock and a probe for each environment and scope that is
/// searched, and the first read as a type the conversion to it. A read of a list or a dictionary walks over all keys.
public final class ConfigurationManager: Sendable {
  let parent: ConfigurationManager?
  /// The conversions from stored values to the types of readers.
  public let conversions: StandardConversionFactory
  let state: Locked<State>
  /// The number of changes, which grows after each.
  let changes = Atomic(0)
  /// The manager whose values of one moment this one has; nil for a manager with values of its own.
  let origin: ConfigurationManager?

  struct State {
    var store = ConfigurationStore()
    /// The listeners of this manager and of its descendants.
    var listeners: [QualifiedKey: [ConfigurationObserver]] = [:]
    /// The keys that sources have added whose `load` has not returned. Listeners are notified afterwards.
    var loading: [ObjectIdentifier: [QualifiedKey]] = [:]
    /// The addresses that were read here or below without a value in any source, for reports. Stored by a manager
    /// without a parent; at most `maximumMissed`, because readers may make up keys.
    var missed: Set<ConfigurationStore.Address> = []
    /// The keys that were read under other names, by the addresses of these, for reports; at most `maximumMissed`.
    var served: [ConfigurationStore.Address: Set<QualifiedKey>] = [:]
    /// The keys that are marked as secrets.
    var secrets: Set<QualifiedKey> = []
  }

  /// Creates an empty manager. Environments create their own; a manager also works without an environment.
  ///
  /// - Parameters:
  ///   - parent: the manager whose values are visible behind those of this manager.
  ///   - conversions: the conversion factory; by default a new one behind which the parent's conversions are visible.
  public init(parent: ConfigurationManager? = nil, conversions: StandardConversionFactory? = nil) {
    self.parent = parent
    self.conversions = conversions ?? StandardConversionFactory(parent: parent?.conversions)
    state = Locked(State())
    origin = nil
  }

  /// Creates a manager with the values of another one, at one moment.
  init(
    parent: ConfigurationManager?, of origin: ConfigurationManager, _ store: ConfigurationStore,
    secrets: Set<QualifiedKey>
  ) {
    self.parent = parent
    self.origin = origin
    conversions = origin.conversions
    state = Locked(State(store: store, secrets: secrets))
  }

  deinit { forgetListeners() }

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
    let (spelling, isAsked) = (source.spelling, source.isAsked)
    let isNew = state.withLock { state in
      guard state.store.add(source, spelling: spelling, isAsked: isAsked) else { return false }
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
    notify(Set(keys), spelling)
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

  private func put(_ item: ConfigurationItem, _ source: any ConfigurationSource, isChange: Bool) throws {
    let traits = SourceTraits(source)
    let id = ObjectIdentifier(source)
    let (isLoading, _) = try state.withLock { state throws(EnvironmentError) in
      let replaced = try state.store.put(
        item, of: source, traits, isChange: isChange)
      state.loading[id]?.append(item.qualifiedKey)
      return (state.loading[id] != nil, replaced)
    }
    if !isLoading { notify([item.qualifiedKey], traits.spelling) }
  }

  /// Undoes `addSource`, as if the source had never been added.
  package func withdraw(_ source: any ConfigurationSource) {
    _ = state.withLock { $0.store.withdraw(source) }
    noteChange()
  }

  /// Drops the references to sources and listeners after the end of the environment. Values remain readable.
  package func close() {
    forgetListeners()
    _ = state.withLock { $0.store.close() }
  }
}
