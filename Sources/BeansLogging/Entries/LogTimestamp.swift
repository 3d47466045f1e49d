#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A moment of the system's clock.
public struct LogTimestamp: Sendable, Hashable, Comparable {
  /// The whole seconds since 1970 in UTC, without leap seconds.
  public let seconds: Int64
  /// The nanoseconds within the second, from 0 to 999,999,999.
  public let nanoseconds: Int32

  /// Creates a moment; `nanoseconds` are clamped to their range.
  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
  }

  /// The current time. Reads the clock once.
  public static var now: LogTimestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return LogTimestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
  }

  /// Orders timestamps by time.
  public static func < (left: LogTimestamp, right: LogTimestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}
