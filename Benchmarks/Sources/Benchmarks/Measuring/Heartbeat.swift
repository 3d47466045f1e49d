import BeansEventLoop
import Synchronization

/// Comes round once in every turn of a loop, and notes the longest turn. The loop never sleeps meanwhile.
final class Heartbeat: Sendable {
  private struct State {
    var last: (wall: Double, processor: Double)?
    var longest = (wall: 0.0, processor: 0.0)
    var isStopped = false
  }

  private let loop: EventLoop
  private let state = Mutex(State())

  init(on loop: EventLoop) {
    self.loop = loop
    loop.execute { self.beat() }
  }

  private func beat() {
    let now = (wall: WallClock.nanoseconds, processor: ThreadClock.nanoseconds)
    let isStopped = state.withLock { state in
      if let last = state.last {
        state.longest.wall = max(state.longest.wall, now.wall - last.wall)
        state.longest.processor = max(state.longest.processor, now.processor - last.processor)
      }
      state.last = now
      return state.isStopped
    }
    if !isStopped { loop.execute { self.beat() } }
  }

  /// Nanoseconds that a turn has taken at most: in wall time, which includes the time of other processes, and in
  /// processor time.
  func stop() -> (wall: Double, processor: Double) {
    state.withLock { state in
      state.isStopped = true
      return state.longest
    }
  }
}
