extension EventLoop {
  /// Runs `work` on the loop's thread, after all work added before. May be called from any thread.
  ///
  /// Closures of one thread keep their order. Accepted work runs in `run()`, or at the latest in `close()`. After
  /// `close()`, the closure is released on the calling thread without being run, see `tryExecute`. Costs a lock and,
  /// when the loop waits, one system call for the first of many.
  public func execute(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard state.phase != .closed else { return }
      state.queue.append(.closure(work))
      wakeIfWaiting(&state)
    }
  }

  /// Runs `work` like `execute`, but refuses it when no thread runs the loop any more. May be called from any thread.
  ///
  /// True: `work` has been queued, and runs in the current or next `run()`, or in `close()` if the loop stops before or
  /// never runs. False: `run()` has returned, or the loop is being or has been closed; the loop has released `work` and
  /// will not run it, and no thread runs closures of this loop any more, except for those that `close()` drains. The
  /// result and the end of `run()` exclude each other, so accepted work is never lost.
  public func tryExecute(_ work: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      switch state.phase {
      case .ready, .running: break
      case .stopped, .closing, .closed: return false
      }
      state.queue.append(.closure(work))
      wakeIfWaiting(&state)
      return true
    }
  }

  /// A timer that `schedule(after:_:)` has set. Copies refer to the same timer; dropping them does not cancel it.
  public struct Scheduled: Sendable {
    let loop: EventLoop
    /// The key of the timer; nil when the loop had been closed.
    let key: TimerKey?

    /// Cancels the timer and releases its closure at once, on the calling thread. May be called from any thread; O(log
    /// n).
    ///
    /// Returns true when the work will not run; false when it has run, is running on the loop's thread, or was
    /// cancelled before.
    @discardableResult
    public func cancel() -> Bool {
      guard let key else { return false }
      // The closure is released at the end of this method, outside the lock: the release of its captures may call the
      // loop.
      let action = loop.state.withLock { $0.timers.remove(key) }
      return action != nil
    }
  }

  /// Runs `work` once on the loop's thread when `delay` has passed. May be called from any thread.
  ///
  /// A timer is never early, and late by less than a millisecond plus the time for which the loop is busy (libuv waits
  /// for whole milliseconds). A negative delay means zero; one beyond 584 years means never. O(log n), without an
  /// allocation beyond the closure; a million timers are fine. `close()` releases the closure without running it; a
  /// closed loop releases it at once.
  @discardableResult
  public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Scheduled {
    Scheduled(loop: self, key: insertTimer(after: delay, .run(work)))
  }

  /// The number of timers and sleeping tasks that wait. May be read from any thread.
  public var scheduledCount: Int { state.withLock { $0.timers.count } }

  /// Adds a timer; returns nil when the loop has been closed.
  func insertTimer(after delay: Duration, _ action: TimerAction) -> TimerKey? {
    let deadline = Deadline.after(delay)
    return state.withLock { insertTimer(at: deadline, action, &$0) }
  }

  /// Adds a timer, under the lock of `state`; returns nil when the loop has been closed.
  func insertTimer(at deadline: UInt64, _ action: TimerAction, _ state: inout LoopState) -> TimerKey? {
    guard state.phase != .closed else { return nil }
    let key = state.timers.insert(deadline: deadline, action)
    if deadline < state.waitEnd { wakeIfWaiting(&state) }
    return key
  }
}
