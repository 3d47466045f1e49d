package import Beans
@_spi(BeansPackage) import BeansErrors
import BeansLogging
import Synchronization

/// The clock of sessions: the one that the user has given, else the clock of an environment, which is read at the first
/// use. From any thread.
package final class SessionClock: Sendable {
  /// The clock from its first use on.
  private final class Running: Sendable {
    let clock: EnvironmentClock
    let begun: Duration
    /// The wall time of the first use.
    let wallTime = LogTimestamp.now

    init(_ clock: EnvironmentClock) { (self.clock, begun) = (clock, clock.now()) }
  }

  private let running = AtomicLazyReference<Running>()
  private let source: Locked<Source>

  /// The function that returns the clock of an environment.
  private struct Source {
    let clock: @Sendable () -> EnvironmentClock
  }

  /// - Parameter clock: the clock of the user's choice; nil for that of an environment.
  package init(_ clock: (any Clock<Duration>)?) {
    source = Locked(Source { .system })
    if let clock { _ = running.storeIfNil(Running(EnvironmentClock(clock))) }
  }

  /// Follows the clock of an environment, unless the user has given one.
  ///
  /// - Parameter clock: returns the clock; called at the first use.
  package func follow(_ clock: @escaping @Sendable () -> EnvironmentClock) {
    source.withLock { $0 = Source(clock: clock) }
  }

  /// The time since the first use. Runs code of the clock.
  package var now: Duration {
    let running = started
    return running.clock.now() - running.begun
  }

  /// The wall time at which `now` was zero, in milliseconds since 1970.
  package var epoch: Int64 {
    let time = started.wallTime
    return time.seconds * 1_000 + Int64(time.nanoseconds) / 1_000_000
  }

  /// Sleeps until `now` is `time`, or until the task is cancelled.
  package func sleep(until time: Duration) async throws {
    let rest = time - now
    if rest > .zero { try await started.clock.sleep(rest) }
  }

  /// Notes the end of the work for which the calling task has slept.
  func settle() { started.clock.calendar?.settle() }

  private var started: Running {
    if let running = running.load() { return running }
    return running.storeIfNil(Running(source.withLock { $0 }.clock()))
  }
}
