import Glibc

/// A point in time, in nanoseconds of the kernel's monotonic clock. Reading it costs no system call.
struct MonotonicTime: Comparable, Sendable {
  let nanoseconds: UInt64

  static let never = MonotonicTime(nanoseconds: .max)

  static var now: MonotonicTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the time that is later by a duration of at least zero; `never` beyond the clock's range.
  static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime { time.later(by: nanoseconds(duration)) }

  /// Returns the time that is later by a number of nanoseconds; `never` beyond the clock's range.
  func later(by nanoseconds: UInt64) -> MonotonicTime {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .never : MonotonicTime(nanoseconds: sum)
  }

  /// Returns the duration in nanoseconds: 0 for a negative one, `UInt64.max` beyond 584 years.
  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || sumOverflow ? .max : sum
  }

  /// Returns the duration from `earlier` to this time; zero if `earlier` is the later one.
  func since(_ earlier: MonotonicTime) -> Duration {
    .nanoseconds(Int64(clamping: nanoseconds - min(earlier.nanoseconds, nanoseconds)))
  }
}
