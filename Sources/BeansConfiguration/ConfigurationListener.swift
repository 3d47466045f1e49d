@_spi(BeansPackage) import BeansErrors

/// A registration of a closure with a `ConfigurationManager`.
public struct ConfigurationListener: Sendable {
  let observer: ConfigurationObserver

  /// Ends the registration and drops the reference to the closure. No call begins after `cancel()` has returned; a call
  /// on another thread may still be in flight. Idempotent, callable from any thread.
  public func cancel() { observer.cancel() }
}

/// The state behind a `ConfigurationListener`: stores the last reported value, and reports one value at a time.
final class ConfigurationObserver: Sendable {
  typealias Body = @Sendable (ConfigurationManager, StoredValue) -> Void

  let key: QualifiedKey
  let scope: String
  private let state: Locked<State>

  private struct State {
    weak var manager: ConfigurationManager?
    var body: Body?
    var last: StoredValue?
    /// A thread is looking for changes. Other threads only request another look, so that values arrive in order.
    var isBusy = true
    var isStale = false
  }

  init(_ key: QualifiedKey, scope: String, of manager: ConfigurationManager, _ body: @escaping Body) {
    self.key = key
    self.scope = scope
    self.state = Locked(State(manager: manager, body: body))
  }

  var manager: ConfigurationManager? { state.withLock { $0.manager } }

  /// Stores the current value as the last reported one.
  func begin(_ value: StoredValue?) {
    let isStale = state.withLock { state in
      state.last = value
      state.isBusy = false
      return state.isStale
    }
    if isStale { check() }
  }

  /// Calls the closure if the current value differs from the last reported one, with no lock held.
  func check() {
    let isMine = state.withLock { state in
      state.isStale = true
      if state.isBusy { return false }
      state.isBusy = true
      return true
    }
    guard isMine else { return }
    while let (manager, body) = next() {
      let value = manager.find(key, scope: scope)
      let isNew = state.withLock { state in
        defer { state.last = value }
        return state.last !== value
      }
      if isNew, let value { body(manager, value) }
    }
  }

  /// Returns the manager and the closure for the next look; nil if nothing has changed since the last one.
  private func next() -> (ConfigurationManager, Body)? {
    state.withLock { state in
      // The manager is read last: the reference taken here must not be released under this lock, because it may be the
      // last one.
      guard state.isStale, let body = state.body, let manager = state.manager else {
        state.isBusy = false
        return nil
      }
      state.isStale = false
      return (manager, body)
    }
  }

  func cancel() {
    let (manager, body) = state.withLock { state in
      let old = (state.manager, state.body)
      state.body = nil
      return old
    }
    manager?.forget(self)
    // Dropping the closure may run any code: not under the lock.
    _ = body
  }
}
