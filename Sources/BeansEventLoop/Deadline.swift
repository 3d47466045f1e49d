import CLibuv

/// Points in time as nanoseconds of libuv's monotonic clock, which any thread may read.
enum Deadline {
  static let never = UInt64.max

  static var now: UInt64 { uv_hrtime() }

  /// Returns now plus `delay`. A negative delay is treated as zero, one beyond the clock's range (584 years) as never.
  static func after(_ delay: Duration) -> UInt64 {
    let (sum, overflow) = now.addingReportingOverflow(nanoseconds(delay))
    return overflow ? never : sum
  }

  /// Returns the duration in nanoseconds, rounded up and clamped to `0 ... UInt64.max`.
  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = whole.addingReportingOverflow(UInt64((attoseconds + 999_999_999) / 1_000_000_000))
    return overflow || sumOverflow ? .max : sum
  }

  /// Returns the time for libuv to wait: whole milliseconds, rounded up so that the loop never wakes early.
  static func milliseconds(from now: UInt64, to deadline: UInt64) -> UInt64 {
    guard deadline > now else { return 0 }
    let distance = deadline - now
    return distance / 1_000_000 + (distance % 1_000_000 == 0 ? 0 : 1)
  }
}
