/// The times that a test has skipped, and when: the difference between the clock and the time that has passed for the
/// test.
package final class SkippedTime: Sendable {
  private let steps = Lock<[(time: UInt64, skipped: UInt64)]>([])

  init() {}

  func add(_ nanoseconds: UInt64, at time: UInt64) { steps.withLock { $0.append((time, nanoseconds)) } }

  /// Returns the time that has been skipped since a time of the monotonic clock, both in nanoseconds.
  package func since(_ time: UInt64) -> UInt64 {
    steps.withLock { $0.reduce(0) { $1.time >= time ? $0 + $1.skipped : $0 } }
  }
}
