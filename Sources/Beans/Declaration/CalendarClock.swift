import BeansLogging

/// A clock that also knows the time of the day: schedules with cron expressions follow it.
package protocol CalendarClock: Clock where Duration == Swift.Duration {
  /// The time since 1970-01-01 00:00 UTC, without leap seconds. Callable from any thread.
  var timeSinceEpoch: Duration { get }
  /// Notes that the calling task, which the clock has woken, does its work without sleeping again.
  func settle()
}

/// The clock of an environment's schedules and restarts.
package struct EnvironmentClock: Sendable {
  /// Returns the time since a fixed, unspecified beginning.
  package let now: @Sendable () -> Duration
  private let clock: any Clock<Duration>

  package init<C: Clock>(_ clock: C) where C.Duration == Duration {
    self.clock = clock
    let begun = clock.now
    now = { begun.duration(to: clock.now) }
  }

  /// The clock, if it knows the time of the day.
  package var calendar: (any CalendarClock)? { clock as? any CalendarClock }

  /// The time since 1970.
  package var sinceEpoch: Duration {
    if let calendar { return calendar.timeSinceEpoch }
    let now = LogTimestamp.now
    return .seconds(now.seconds) + .nanoseconds(now.nanoseconds)
  }

  /// Sleeps for a duration, or until the task is cancelled.
  package func sleep(_ duration: Duration) async throws { try await clock.sleep(for: duration) }

  /// The system's clock, which also advances while the system sleeps.
  package static let system = EnvironmentClock(ContinuousClock())
}
