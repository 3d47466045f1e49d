@_spi(BeansPackage) import BeansErrors

/// Ids without a session, so that a client that keeps a dead id does not cause a call of the store with each request.
///
/// Contains only ids in the form that `UnguessableId` makes. Such an id reaches a client when its session has been
/// created, so an id that is missing once stays missing. The memory is nevertheless bounded in size and time: an id is
/// forgotten after one to two periods, or when many other ids follow. Safe from any thread.
final class MissingIds: Sendable {
  private struct State {
    var recent: Set<String> = []
    var older: Set<String> = []
    var began = ContinuousClock.now
  }

  private let capacity: Int
  private let period: Duration
  private let state = Locked(State())

  /// - Parameters:
  ///   - capacity: the number of ids after which the older ids are forgotten.
  ///   - period: the time after which the older ids are forgotten.
  init(capacity: Int = 4_096, period: Duration = .seconds(30)) { (self.capacity, self.period) = (capacity, period) }

  func contains(_ id: String) -> Bool {
    state.withLock { state in
      forget(&state)
      return state.recent.contains(id) || state.older.contains(id)
    }
  }

  func insert(_ id: String) {
    // The name of a parent may precede the id.
    guard let own = id.split(separator: ":").last, UnguessableId.hasForm(String(own)) else { return }
    state.withLock { state in
      forget(&state)
      state.recent.insert(id)
    }
  }

  func remove(_ id: String) {
    state.withLock { state in
      state.recent.remove(id)
      state.older.remove(id)
    }
  }

  private func forget(_ state: inout State) {
    let now = ContinuousClock.now
    guard state.recent.count >= capacity || now - state.began >= period else { return }
    if now - state.began >= period * 2 { state.recent = [] }
    (state.older, state.recent, state.began) = (state.recent, [], now)
  }
}
