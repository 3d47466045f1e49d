import CLibuv

/// Points in time as nanoseconds of libuv's monotonic clock, which any thread may read.
enum Deadline {
  static let never = UInt64.max

  static var now: UInt64 { uv_hrtime() }

  /// Now plus `delay`: a negative delay counts as none, one beyond the clock's range (584 years) as never.
  static func after(_ delay: Duration) -> UInt64 {
    let (sum, overflow) = now.addingReportingOverflow(nanoseconds(delay))
    return overflow ? never : sum
  }

  /// The duration in nanoseconds, rounded up and kept within `0 ... UInt64.max`.
  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = whole.addingReportingOverflow(UInt64((attoseconds + 999_999_999) / 1_000_000_000))
    return overflow || sumOverflow ? .max : sum
  }

  /// What libuv is told to wait for: whole milliseconds, rounded up so that it never wakes early.
  static func milliseconds(from now: UInt64, to deadline: UInt64) -> UInt64 {
    guard deadline > now else { return 0 }
    let distance = deadline - now
    return distance / 1_000_000 + (distance % 1_000_000 == 0 ? 0 : 1)
  }
}
