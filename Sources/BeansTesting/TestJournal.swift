import Beans
@_spi(BeansPackage) import BeansSupport

/// What has become of the beans of one test's environments, noted on whichever thread that happens.
final class TestJournal: EnvironmentObserver {
  private let state = Locked(State())

  private struct State {
    var released: [ReleasedObject] = []
    /// How many released objects there may be before those that have gone are forgotten.
    var limit = 64
    var failures: [EnvironmentError] = []
    var forbidden: [EnvironmentError] = []
  }

  func released(
    _ object: AnyObject, _ bean: String, _ type: Any.Type, _ origin: EnvironmentError.Origin, in environment: String
  ) {
    let released = ReleasedObject(object: object, bean: bean, type: type, origin: origin, environment: environment)
    state.withLock { state in
      state.released.append(released)
      guard state.released.count > state.limit else { return }
      state.released.removeAll { !$0.exists }
      state.limit = max(64, 2 * state.released.count)
    }
  }

  func failed(_ failure: EnvironmentError) { state.withLock { $0.failures.append(failure) } }

  func note(forbidden: EnvironmentError) { state.withLock { $0.forbidden.append(forbidden) } }

  /// Releases that have failed.
  var failures: [EnvironmentError] { state.withLock { $0.failures } }

  /// Beans that were wanted although a test forbids them.
  var forbidden: [EnvironmentError] { state.withLock { $0.forbidden } }

  /// Objects that somebody still has, although the container has let go of them.
  var leaks: [ReleasedObject] {
    state.withLock { state in
      state.released.removeAll { !$0.exists }
      return state.released
    }
  }
}

/// An object that the container has let go of.
///
/// Sendable, because nothing is asked of the object but whether it is still there.
struct ReleasedObject: @unchecked Sendable {
  weak var object: AnyObject?
  /// How faults name the bean.
  let bean: String
  let type: Any.Type
  let origin: EnvironmentError.Origin
  let environment: String

  var exists: Bool { object != nil }
}
