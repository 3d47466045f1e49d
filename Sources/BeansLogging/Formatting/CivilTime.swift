#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A moment as a calendar day and a wall-clock time.
struct CivilTime: Equatable {
  var day: CivilDay
  var hour = 0
  var minute = 0
  var second = 0
  var nanosecond = 0
  /// The offset east of UTC, in seconds.
  var offset = 0

  init(
    day: CivilDay, hour: Int = 0, minute: Int = 0, second: Int = 0, nanosecond: Int = 0, offset: Int = 0
  ) {
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.nanosecond = nanosecond
    self.offset = offset
  }

  /// Converts a timestamp to the time zone of the process.
  init(_ timestamp: LogTimestamp) {
    _ = Self.zoneIsKnown
    var seconds = time_t(timestamp.seconds)
    var fields = unsafe tm()
    // Fails only for years that `tm` cannot hold; the day is then 1 January 1900.
    unsafe localtime_r(&seconds, &fields)
    day = unsafe CivilDay(
      year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: max(1, Int(fields.tm_mday)))
    hour = unsafe Int(fields.tm_hour)
    minute = unsafe Int(fields.tm_min)
    second = unsafe Int(fields.tm_sec)
    nanosecond = Int(timestamp.nanoseconds)
    offset = unsafe Int(fields.tm_gmtoff)
  }

  /// Reads `TZ` once, because `localtime_r` need not.
  private static let zoneIsKnown: Bool = {
    tzset()
    return true
  }()
}
