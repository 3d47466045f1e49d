import Dispatch

/// What several threads share of a loop. Everything here is protected by the loop's mutex.
struct LoopState: Sendable {
  enum Phase: Sendable {
    /// Not yet run.
    case ready
    case running
    /// `run` has returned; it may run again.
    case stopped
    case closing
    case closed
  }

  var phase = Phase.ready
  /// In the order of arrival. Refused only once `phase` is `.closed`.
  var queue: [WorkItem] = []
  var timers = TimerHeap()
  var stopRequested = false
  /// True from before the loop blocks in libuv until it is back, or until someone has woken it:
  /// only the first of many senders pays for the system call.
  var isWaiting = false
  /// When the wait that `isWaiting` tells of ends by itself.
  var waitEnd = Deadline.never
  /// Where jobs that arrive after `close()` run, one at a time.
  var lateJobs: DispatchQueue?

  /// Whether whoever holds the lock must interrupt the wait; at most once for every wait.
  mutating func takeWait() -> Bool {
    defer { isWaiting = false }
    return isWaiting
  }
}
