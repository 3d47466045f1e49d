import Glibc

/// A point in time, in nanoseconds of the kernel's monotonic clock. Reading it costs no system call.
struct MonotonicTime: Comparable, Sendable {
  private let nanoseconds: UInt64

  static let never = MonotonicTime(nanoseconds: .max)

  static var now: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Later by a duration that is not negative; never, where that is beyond the clock's range.
  static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return time }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (part, overflow2) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    let (sum, overflow3) = time.nanoseconds.addingReportingOverflow(part)
    return overflow || overflow2 || overflow3 ? .never : MonotonicTime(nanoseconds: sum)
  }

  /// How long it is from `earlier` to this; zero where `earlier` is the later one.
  func since(_ earlier: MonotonicTime) -> Duration {
    .nanoseconds(Int64(clamping: nanoseconds - min(earlier.nanoseconds, nanoseconds)))
  }
}
