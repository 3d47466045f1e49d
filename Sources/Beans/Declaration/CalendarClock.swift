import BeansLogging

/// A clock that also knows the time of the day: schedules with cron expressions follow it.
public protocol CalendarClock: Clock where Duration == Swift.Duration {
  /// The time since 1970-01-01 00:00 UTC, without leap seconds. Callable from any thread.
  var timeSinceEpoch: Duration { get }
}

/// The clock of an environment's schedules and restarts.
package struct EnvironmentClock: Sendable {
  /// Sleeps for a duration, or until the task is cancelled.
  package let sleep: @Sendable (Duration) async throws -> Void
  /// Returns the time since a fixed, unspecified beginning.
  package let now: @Sendable () -> Duration
  /// Returns the time since 1970.
  package let sinceEpoch: @Sendable () -> Duration
  /// The longest sleep before a time of the day. The system's wall clock may be set while a task sleeps.
  package let longestSleep: Duration?

  package init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let begun = clock.now
    sleep = { try await clock.sleep(for: $0) }
    now = { begun.duration(to: clock.now) }
    if let calendar = clock as? any CalendarClock {
      sinceEpoch = { calendar.timeSinceEpoch }
      longestSleep = nil
    } else {
      sinceEpoch = {
        let now = LogTimestamp.now
        return .seconds(now.seconds) + .nanoseconds(now.nanoseconds)
      }
      longestSleep = .seconds(60)
    }
  }

  /// The system's clock, which also advances while the system sleeps.
  package static let system = EnvironmentClock(ContinuousClock())
}
