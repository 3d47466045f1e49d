import Glibc

/// A moment of the system's clock.
public struct LogTimestamp: Sendable, Hashable, Comparable {
  /// Whole seconds since 1970 in UTC, without leap seconds.
  public let seconds: Int64
  /// The rest, from 0 to 999,999,999.
  public let nanoseconds: Int32

  /// Creates a moment; `nanoseconds` out of range are cut to it.
  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
  }

  /// Now. One read of the clock.
  public static var now: LogTimestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return LogTimestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
  }

  /// Earlier ones first.
  public static func < (left: LogTimestamp, right: LogTimestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}
