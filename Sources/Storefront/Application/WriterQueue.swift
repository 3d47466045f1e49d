@_spi(BeansPackage) import BeansSupport
import BeansEventLoop

/// Lets the requests of this process write one after the other, in the order in which they have come; who waits keeps no thread.
///
/// Without it each would try again and again, and whoever comes at the right moment would overtake those who have waited for long.
/// Safe from any thread.
final class WriterQueue: Sendable {
  private struct Waiter {
    let loop: EventLoop
    let body: @Sendable () -> Void
  }

  private struct State {
    var isTaken = false
    var isClosed = false
    var waiting: [Waiter] = []
  }

  private let capacity: Int
  private let state = Locked(State())

  /// `capacity` is how many may wait at one time.
  init(capacity: Int = 1_000) { self.capacity = capacity }

  /// Runs `body` here and now where nobody writes, else on the thread of `loop` when its turn has come.
  ///
  /// - Parameters:
  ///   - loop: where `body` runs later.
  ///   - body: has to lead to one call of `leave()`.
  /// - Returns: false, and `body` will not run, where too many wait, or after `close()`.
  func enter(on loop: EventLoop, _ body: @escaping @Sendable () -> Void) -> Bool {
    let (isIn, isFirst) = state.withLock { state in
      if state.isClosed { return (false, false) }
      if !state.isTaken {
        state.isTaken = true
        return (true, true)
      }
      guard state.waiting.count < capacity else { return (false, false) }
      state.waiting.append(Waiter(loop: loop, body: body))
      return (true, false)
    }
    if isFirst { body() }
    return isIn
  }

  /// Returns when the caller's turn has come, which has to lead to one call of `leave()`.
  ///
  /// - Returns: false where too many wait, or after `close()`: the caller has no turn.
  func enter(on loop: EventLoop) async -> Bool {
    await withCheckedContinuation { continuation in
      let turn = Turn(continuation)
      if !enter(on: loop, { turn.resume(isTaken: true) }) { turn.resume(isTaken: false) }
    }
  }

  /// A task that waits. It goes on without the turn where nobody can give it the turn any more.
  private final class Turn: Sendable {
    private let continuation: Locked<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Locked(continuation) }

    deinit { resume(isTaken: false) }

    func resume(isTaken: Bool) { continuation.withLock { $0.take() }?.resume(returning: isTaken) }
  }

  /// Ends a turn. The next is given to whoever has waited longest, whoever comes meanwhile.
  func leave() {
    var isHandedOn = false
    while !isHandedOn {
      let next = state.withLock { state -> Waiter? in
        guard !state.waiting.isEmpty else {
          state.isTaken = false
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let next else { return }
      // A loop that has ended takes nothing more.
      isHandedOn = next.loop.tryExecute(next.body)
    }
  }

  /// Lets nobody in any more, and lets go of those who wait.
  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    // Released outside of the lock: with a request goes all that it has kept.
    withExtendedLifetime(consume waiting) {}
  }
}
