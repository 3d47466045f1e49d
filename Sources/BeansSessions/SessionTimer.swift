@_spi(BeansPackage) import BeansErrors
import Synchronization

/// The one timer for the idle times of all sessions: a task that sleeps on a clock.
final class SessionTimer: Sendable {
  private let clock: SessionClock
  /// The time at which the timer fires; the largest number for never.
  private let due = Atomic(UInt64.max)
  private let task = Locked<Task<Void, Never>?>(nil)

  init(_ clock: SessionClock) { self.clock = clock }

  deinit { task.withLock { $0 }?.cancel() }

  /// The time by the clock, in nanoseconds since its first use. Runs code of the clock.
  var now: UInt64 { UInt64(nanosecondsOf: clock.now) }

  /// Makes the timer fire at a time, unless it fires earlier. Runs code of the clock.
  ///
  /// - Parameters:
  ///   - time: the time at which `body` runs.
  ///   - body: runs in a task, and calls `fired(at:)`. Holds no strong reference to the owner of the timer.
  func arm(at time: UInt64, _ body: @autoclosure () -> @Sendable (UInt64) -> Void) {
    if time >= due.load(ordering: .relaxed) { return }
    let (clock, body) = (clock, body())
    let replaced = task.withLock { task -> Task<Void, Never>? in
      if time >= due.load(ordering: .relaxed) { return nil }
      due.store(time, ordering: .relaxed)
      defer {
        task = Task.detached {
          guard (try? await clock.sleep(until: .nanoseconds(Int64(clamping: time)))) != nil else { return }
          body(time)
          clock.settle()
        }
      }
      return task
    }
    replaced?.cancel()
  }

  /// Notes that the timer has fired.
  func fired(at time: UInt64) {
    task.withLock { task in
      guard due.load(ordering: .relaxed) == time else { return }
      due.store(.max, ordering: .relaxed)
      task = nil
    }
  }
}

extension UInt64 {
  /// The duration in nanoseconds, rounded down; 0 for a negative duration, the largest number for one beyond 584 years.
  init(nanosecondsOf duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else {
      self = 0
      return
    }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    self = overflow ? .max : whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000)).partialValue
  }
}
