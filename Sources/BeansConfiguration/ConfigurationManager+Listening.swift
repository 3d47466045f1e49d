@_spi(BeansPackage) import BeansSupport
import BeansLogging

extension ConfigurationManager {
  /// Calls `changed` with the converted value whenever another value holds, here or inherited, after it can be read.
  ///
  /// Not called for the value that holds now, nor when a value goes away without another in its place. Calls come one after
  /// the other and in order, on the thread that changes the configuration, with no lock held; changes that happen during
  /// a call may arrive as one. A value that does not convert to `T` is logged. Held until cancelled, or until the
  /// environment has been finished; a closure that holds the manager keeps it alive until then.
  ///
  /// - Parameters:
  ///   - type: what values are converted to.
  ///   - namespace: of the key.
  ///   - key: whose value is wanted.
  ///   - scope: the place for which the value is wanted, as in `getValue`.
  ///   - changed: called with the value.
  @discardableResult
  public func addListener<T>(
    _ type: T.Type, namespace: String = "", key: String, scope: String = "",
    _ changed: @escaping @Sendable (T) -> Void
  ) -> ConfigurationListener {
    let key = QualifiedKey(namespace: namespace, key: key)
    let observer = ConfigurationObserver(key, scope: scope, of: self) { manager, value in
      do {
        changed(try manager.read(value, as: T.self))
      } catch {
        LogManager.getLogger(forName: "Beans.Configuration").error("a listener was not told of a change: \(error)")
      }
    }
    for manager in chain { manager.state.withLock { $0.listeners[key, default: []].append(observer) } }
    observer.begin(find(key, scope: scope))
    return ConfigurationListener(observer: observer)
  }

  /// Has all who may see the key look again.
  func notify(_ key: QualifiedKey) {
    for observer in state.withLock({ $0.listeners[key] ?? [] }) { observer.check() }
  }

  func forget(_ observer: ConfigurationObserver) {
    for manager in chain {
      manager.state.withLock { state in
        state.listeners[observer.key]?.removeAll { $0 === observer }
        if state.listeners[observer.key]?.isEmpty == true { state.listeners[observer.key] = nil }
      }
    }
  }

  /// Forgets the listeners of this manager, here and above.
  func forgetListeners() {
    let observers = state.withLock { state in
      defer { state.listeners = [:] }
      return state.listeners.values.flatMap { $0 }
    }
    for observer in observers {
      observer.cancel()
      // A manager that is going away cannot be reached through its listeners any more.
      if observer.manager == nil { parent?.forget(observer) }
    }
  }

  /// This manager and its ancestors, nearest first.
  var chain: some Sequence<ConfigurationManager> { sequence(first: self) { $0.parent } }
}
