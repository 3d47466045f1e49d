import Glibc

/// A moment as the calendar and the clock on the wall show it.
struct CivilTime: Equatable {
  var day: CivilDay
  var hour = 0
  var minute = 0
  var second = 0
  var nanosecond = 0
  /// East of UTC, in seconds.
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

  /// In the time zone of the process.
  init(_ timestamp: LogTimestamp) {
    _ = Self.zoneIsKnown
    var seconds = time_t(timestamp.seconds)
    var fields = unsafe tm()
    // Fails only for years that `tm` cannot hold; the fields are 1900 then.
    unsafe localtime_r(&seconds, &fields)
    day = unsafe CivilDay(year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday))
    hour = unsafe Int(fields.tm_hour)
    minute = unsafe Int(fields.tm_min)
    second = unsafe Int(fields.tm_sec)
    nanosecond = Int(timestamp.nanoseconds)
    offset = unsafe Int(fields.tm_gmtoff)
  }

  /// `localtime_r` need not read `TZ`.
  private static let zoneIsKnown: Bool = {
    tzset()
    return true
  }()
}
