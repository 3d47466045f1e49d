import Glibc

/// The `Date` field's value, formatted at most once a second.
///
/// Not `Sendable`: each loop thread has its own.
struct HTTPDate {
  private var second: time_t = -1
  private var text: [UInt8] = []

  /// The current time as `Sun, 06 Nov 1994 08:49:37 GMT`.
  mutating func now() -> [UInt8] { at(time(nil)) }

  /// Returns the formatted time of `second`, which is counted from 1970 in UTC.
  mutating func at(_ second: time_t) -> [UInt8] {
    if second != self.second {
      self.second = second
      text = Self.format(second)
    }
    return text
  }

  private static func format(_ second: time_t) -> [UInt8] {
    var second = second
    var parts = unsafe tm()
    unsafe gmtime_r(&second, &parts)
    // Spelled out because the names of `strftime` follow the locale of the process.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date =
      unsafe "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return Array(unsafe "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT".utf8)
  }
}
