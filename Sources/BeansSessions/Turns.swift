@_spi(BeansPackage) import BeansSupport

/// Lets tasks do something one after another, in the order in which they came. A task that is cancelled keeps its place: what
/// it has changed has to be saved.
final class Turns: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Returns when it is the caller's turn, which has to `pass()`.
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

  /// Gives the turn to the next one.
  func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.isTaken = false
      return nil
    }
    next?.resume()
  }
}
