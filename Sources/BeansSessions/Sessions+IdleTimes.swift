import Beans
@_spi(BeansPackage) import BeansErrors

extension Sessions {
  /// Runs `body` under the lock, at the present time by the clock of the idle limit; then arms the timer for the next
  /// check.
  @inline(__always)
  func atPresent<R: Sendable>(_ body: (inout State) -> R) -> R {
    timer == nil ? state.withLock { body(&$0) } : atTime(body)
  }

  @inline(never)
  private func atTime<R: Sendable>(_ body: (inout State) -> R) -> R {
    guard let timer else { return state.withLock { body(&$0) } }
    let now = timer.now
    let (result, next) = state.withLock { state in
      state.table.clockTime = max(state.table.clockTime, now)
      return (body(&state), state.table.nextCheck)
    }
    if let next { timer.arm(at: next, { [weak self] in self?.endIdle(at: $0) }) }
    return result
  }

  /// Ends the idle sessions. Called by the timer for the time at which it has been armed.
  private func endIdle(at time: UInt64) {
    guard let timer else { return }
    var isDone = false
    while !isDone {
      let now = timer.now
      // In slices, so that other users of this object do not wait for all of them.
      let (closed, next) = state.withLock { state in
        state.table.clockTime = max(state.table.clockTime, now)
        return (state.table.closeIdle(checking: 256), state.table.nextCheck ?? .max)
      }
      for session in closed { session.finish(by: .idle) }
      isDone = next > now
    }
    timer.fired(at: time)
    // Arms the timer anew, also for a session that came in before it could be armed.
    atPresent { _ in }
  }
}
