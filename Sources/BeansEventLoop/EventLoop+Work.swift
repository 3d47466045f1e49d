extension EventLoop {
  /// Runs `work` on the loop's thread, after everything that was handed in before it. From any thread.
  ///
  /// Closures of one thread keep their order. Accepted work is run by `run()`, or at the latest by `close()`; after
  /// `close()` the closure is released on the calling thread without being run, see `tryExecute`.
  /// Costs a lock and, when the loop waits, one system call for the first of many.
  public func execute(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard state.phase != .closed else { return }
      state.queue.append(.closure(work))
      wakeIfWaiting(&state)
    }
  }

  /// Like `execute`, but refuses when no thread runs the loop any more. From any thread.
  ///
  /// True: `work` has been queued, and is run by the current or coming `run()`, or by `close()` if the loop stops (or is
  /// never run) before. False: `run()` has returned, or the loop is being or has been closed; `work` will not be run by the
  /// loop and has been released, and by then no thread runs closures of this loop, except for those that `close()` drains.
  /// The answer and the end of `run()` exclude each other: there is no moment in which work is taken and forgotten.
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

  /// Work for a later time, as `schedule(after:_:)` returns it. Copies mean the same timer; dropping them cancels nothing.
  public struct Scheduled: Sendable {
    let loop: EventLoop
    /// Nil when the loop had been closed.
    let key: TimerKey?

    /// Takes the timer back and releases its closure, here and now. From any thread; O(log n).
    ///
    /// True when the work will not run. False when it has run, is running on the loop's thread, or was cancelled before.
    @discardableResult
    public func cancel() -> Bool {
      guard let key else { return false }
      // The closure is released at the end of this method, outside the lock: what it captured may call the loop.
      let action = loop.state.withLock { $0.timers.remove(key) }
      return action != nil
    }
  }

  /// Runs `work` once on the loop's thread when `delay` has passed. From any thread.
  ///
  /// Never early, and late by less than a millisecond plus whatever keeps the loop busy (libuv waits for whole
  /// milliseconds). A negative delay means none; one beyond 584 years means never. O(log n) and, beyond the closure, no
  /// allocation; a million timers are fine. `close()` releases the closure without running it, as does a loop already closed.
  @discardableResult
  public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Scheduled {
    Scheduled(loop: self, key: insertTimer(after: delay, .run(work)))
  }

  /// The number of timers and sleeping tasks that wait. From any thread.
  public var scheduledCount: Int { state.withLock { $0.timers.count } }

  /// Nil when the loop has been closed.
  func insertTimer(after delay: Duration, _ action: TimerAction) -> TimerKey? {
    let deadline = Deadline.after(delay)
    return state.withLock { insertTimer(at: deadline, action, &$0) }
  }

  /// Under the lock.
  func insertTimer(at deadline: UInt64, _ action: TimerAction, _ state: inout LoopState) -> TimerKey? {
    guard state.phase != .closed else { return nil }
    let key = state.timers.insert(deadline: deadline, action)
    if deadline < state.waitEnd { wakeIfWaiting(&state) }
    return key
  }
}
