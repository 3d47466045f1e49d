import Beans
@_spi(BeansPackage) import BeansErrors

/// The log of releases, failures and forbidden beans in the environments of one test. Any thread may write to it.
final class TestJournal: Sendable {
  private let state = Locked(State())

  private struct State {
    var released: [ReleasedObject] = []
    /// The number of released objects beyond which deallocated ones are removed.
    var limit = 64
    var failures: [EnvironmentError] = []
    var forbidden: [EnvironmentError] = []
  }

  func note(released: ReleasedObject) {
    state.withLock { state in
      state.released.append(released)
      guard state.released.count > state.limit else { return }
      state.released.removeAll { !$0.exists }
      state.limit = max(64, 2 * state.released.count)
    }
  }

  func note(failed: EnvironmentError) { state.withLock { $0.failures.append(failed) } }

  func note(forbidden: EnvironmentError) { state.withLock { $0.forbidden.append(forbidden) } }

  /// The releases that have failed.
  var failures: [EnvironmentError] { state.withLock { $0.failures } }

  /// The errors of attempts to build beans that the test forbids.
  var forbidden: [EnvironmentError] { state.withLock { $0.forbidden } }

  /// The objects that are still referenced, although the container has dropped its references.
  var leaks: [ReleasedObject] {
    state.withLock { state in
      state.released.removeAll { !$0.exists }
      return state.released
    }
  }
}

/// An object to which the container has dropped its reference.
///
/// Safe to send: threads only check whether the object still exists.
struct ReleasedObject: @unchecked Sendable {
  weak var object: AnyObject?
  /// The name of the bean in faults.
  let bean: String
  let type: Any.Type
  let origin: EnvironmentError.Origin
  let environment: String

  var exists: Bool { object != nil }
}
