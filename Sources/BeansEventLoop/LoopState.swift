import Dispatch

/// The state of a loop that several threads share. The loop's mutex protects all of it.
struct LoopState: Sendable {
  enum Phase: Sendable {
    /// The loop has not yet run.
    case ready
    case running
    /// `run()` has returned; the loop may run again.
    case stopped
    case closing
    case closed
  }

  var phase = Phase.ready
  /// The accepted work, in the order of arrival. The queue takes no work once `phase` is `.closed`.
  var queue: [WorkItem] = []
  var timers = TimerHeap()
  var stopRequested = false
  /// True from before the loop blocks in libuv until libuv returns, or until a thread has woken the loop: only the
  /// first of many senders makes the system call.
  var isWaiting = false
  /// The time at which the wait of the loop ends by itself.
  var waitEnd = Deadline.never
  /// The queue of the jobs that arrive after `close()`, which run one at a time.
  var lateJobs: DispatchQueue?

  /// Begins a run of the loop. `operation` describes the call in errors.
  mutating func beginRun(_ operation: String) throws(EventLoopError) {
    switch phase {
    case .ready, .stopped: phase = .running
    case .running, .closing: throw EventLoopError(.alreadyRunning, operation)
    case .closed: throw EventLoopError(.loopClosed, operation)
    }
  }

  /// Whether the holder of the lock must interrupt the wait; true at most once for each wait.
  mutating func takeWait() -> Bool {
    defer { isWaiting = false }
    return isWaiting
  }
}
