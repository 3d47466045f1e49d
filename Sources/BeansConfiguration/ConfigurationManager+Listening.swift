@_spi(BeansPackage) import BeansErrors
import BeansLogging

extension ConfigurationManager {
  /// Calls `changed` with the converted value whenever another value takes effect, here or inherited, once the value is
  /// readable.
  ///
  /// Not called for the current value, nor when a value is removed without a replacement. Calls are serial and in
  /// order, on the thread that changes the configuration, with no lock held; changes during a call may be combined into
  /// one. A value that does not convert to `T` is logged. The manager retains the closure until the listener is
  /// cancelled or the environment has been finished; a closure that retains the manager keeps it alive until then.
  ///
  /// - Parameters:
  ///   - type: the target type of the conversion.
  ///   - namespace: the namespace of the key.
  ///   - key: the key of the value.
  ///   - scope: the scope of the value, as in `getValue`.
  ///   - changed: called with the value.
  @discardableResult
  public func addListener<T>(
    _ type: T.Type, namespace: String = "", key: String, scope: String = "",
    _ changed: @escaping @Sendable (T) -> Void
  ) -> ConfigurationListener {
    let key = QualifiedKey(namespace: namespace, key: key)
    let observer = ConfigurationObserver(key, scope: scope, of: self) { manager, value in
      do {
        changed(try manager.read(value, as: T.self, scope: scope))
      } catch {
        LogManager.getLogger(forName: "Beans.Configuration").error("a listener missed a change: \(error)")
      }
    }
    for manager in chain { manager.state.withLock { $0.listeners[key, default: []].append(observer) } }
    observer.begin(find(key, scope: scope))
    return ConfigurationListener(observer: observer)
  }

  /// Counts a change, and makes all observers look for it that may be affected: those of the keys, those of keys that have
  /// one of them as another name, and those of elements of a list at one of the keys.
  func notify(_ changed: Set<QualifiedKey>, _ spelling: KeySpelling) {
    noteChange()
    let observers = state.withLock { state in
      state.listeners.filter { key, _ in
        (key.lists + [key]).contains { key in
          changed.contains(key) || spelling.names(of: key).contains { changed.contains(QualifiedKey($0)) }
        }
      }.flatMap(\.value)
    }
    for observer in observers { observer.check() }
  }

  func forget(_ observer: ConfigurationObserver) {
    for manager in chain {
      manager.state.withLock { state in
        state.listeners[observer.key]?.removeAll { $0 === observer }
        if state.listeners[observer.key]?.isEmpty == true { state.listeners[observer.key] = nil }
      }
    }
  }

  /// Cancels the listeners of this manager, and removes them here and above.
  func forgetListeners() {
    let observers = state.withLock { state in
      defer { state.listeners = [:] }
      return state.listeners.values.flatMap { $0 }
    }
    for observer in observers {
      observer.cancel()
      // A manager in `deinit` is no longer reachable through its listeners.
      if observer.manager == nil { parent?.forget(observer) }
    }
  }

  /// This manager and its ancestors, nearest first.
  var chain: some Sequence<ConfigurationManager> { sequence(first: self) { $0.parent } }
}
