@_spi(BeansPackage) import BeansErrors

/// A queue that runs the operations of tasks one after another, in the order of arrival. A cancelled task keeps its
/// place, because its changes have to be saved.
final class Turns: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Waits until the turn belongs to the caller. The caller has to `pass()` it.
  nonisolated(nonsending) func take() async {
    let isMine = state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
    if isMine { return }
    await withCheckedContinuation { continuation in
      let isMine = state.withLock { state in
        if state.isTaken { state.waiting.append(continuation) }
        defer { state.isTaken = true }
        return !state.isTaken
      }
      if isMine { continuation.resume() }
    }
  }

  /// Passes the turn to the next task.
  func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.isTaken = false
      return nil
    }
    next?.resume()
  }
}
