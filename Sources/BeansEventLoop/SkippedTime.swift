/// How much time a test has skipped, and when: by that the time of the clock is told from the time that has passed for the test.
package final class SkippedTime: Sendable {
  private let steps = Lock<[(time: UInt64, skipped: UInt64)]>([])

  package init() {}

  func add(_ nanoseconds: UInt64, at time: UInt64) { steps.withLock { $0.append((time, nanoseconds)) } }

  /// What has been skipped since a time of the monotonic clock, in nanoseconds as that.
  package func since(_ time: UInt64) -> UInt64 {
    steps.withLock { $0.reduce(0) { $1.time >= time ? $0 + $1.skipped : $0 } }
  }
}
