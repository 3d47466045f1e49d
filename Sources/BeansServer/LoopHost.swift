import Beans
@_spi(BeansPackage) import BeansSupport
import BeansEventLoop

/// What scopes bound to a loop have in common: the environment, a timer, and the loop as the place of release.
struct LoopHost: ~Copyable, Sendable {
  // Not private: debug builds fail where another file holds a value of this type and cannot see what is in it.
  struct State {
    /// Held until everything is released; the environment holds the scope meanwhile.
    var environment: Environment?
    var timer: EventLoop.Scheduled?
    /// A parent that ends can bring a child to its end while it is still being opened.
    var isClosed = false
  }

  private let loop: EventLoop
  private let state = Locked(State())

  init(_ loop: EventLoop) { self.loop = loop }

  var environment: Environment? { state.withLock { $0.environment } }

  func opened(_ environment: Environment) {
    state.withLock { state in
      if !state.isClosed { state.environment = environment }
    }
  }

  /// Replaces the timer; does nothing after the end. `closed()` takes the timer back, so `body` may hold the scope.
  func arm(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    let old = state.withLock { state -> EventLoop.Scheduled? in
      guard !state.isClosed else { return nil }
      let old = state.timer
      // Under the lock: a timer that fires at once and arms the next must not find this one stored after its own.
      state.timer = loop.schedule(after: delay, body)
      return old
    }
    old?.cancel()
  }

  func closed() {
    let old = state.withLock { state in
      let old = state
      state = State(isClosed: true)
      return old
    }
    old.timer?.cancel()
  }

  /// A loop that does not run has no thread of its own to release on.
  var canReleaseHere: Bool { loop.isCurrent || !loop.isRunning }

  func release(_ work: @escaping @Sendable () -> Void) -> Bool {
    if loop.isCurrent {
      work()
      return true
    }
    return loop.tryExecute(work)
  }

  func release(asynchronously work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: loop, operation: work)
  }
}
