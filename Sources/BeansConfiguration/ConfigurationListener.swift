@_spi(BeansPackage) import BeansSupport

/// A registration of a closure with a `ConfigurationManager`.
public struct ConfigurationListener: Sendable {
  let observer: ConfigurationObserver

  /// Ends the registration and lets go of the closure. No call begins after this has returned; one that another thread
  /// is in may still be under way. Idempotent, from any thread.
  public func cancel() { observer.cancel() }
}

/// The other half: remembers the last value it has told of, and tells of one after the other.
final class ConfigurationObserver: Sendable {
  typealias Body = @Sendable (ConfigurationManager, ConfigurationValue) -> Void

  let key: QualifiedKey
  let scope: String
  private let state: Locked<State>

  private struct State {
    weak var manager: ConfigurationManager?
    var body: Body?
    var last: ConfigurationValue?
    /// Some thread is looking for changes: others only tell it to look once more, so that values arrive in order.
    var isBusy = true
    var isStale = false
  }

  init(_ key: QualifiedKey, scope: String, of manager: ConfigurationManager, _ body: @escaping Body) {
    self.key = key
    self.scope = scope
    self.state = Locked(State(manager: manager, body: body))
  }

  var manager: ConfigurationManager? { state.withLock { $0.manager } }

  /// Takes the value that holds now as known.
  func begin(_ value: ConfigurationValue?) {
    let isStale = state.withLock { state in
      state.last = value
      state.isBusy = false
      return state.isStale
    }
    if isStale { check() }
  }

  /// Calls the closure if another value holds than at the last call, with no lock held.
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

  /// What to do, or nil where nothing has happened since the last look.
  private func next() -> (ConfigurationManager, Body)? {
    state.withLock { state in
      // The manager last: the reference taken here must not be the one that ends it, under this lock.
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
    // What the closure holds may end here, and do anything: not under the lock.
    _ = body
  }
}
