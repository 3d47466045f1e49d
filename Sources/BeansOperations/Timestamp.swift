import Glibc

/// A moment of the wall clock, in the form of reports.
struct Timestamp: Sendable {
  /// The seconds since 1970, in UTC.
  let seconds: Double

  /// The current time.
  static var now: Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000)
  }
}

extension Timestamp: CustomStringConvertible {
  /// The time in ISO 8601 in UTC, with milliseconds: "2026-11-25T15:12:42.250Z".
  var description: String {
    let milliseconds = Int((seconds * 1_000).rounded(.down))
    var second = time_t(milliseconds / 1_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&second, &parts)
    let day = unsafe [parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday].map { Self.pad($0) }.joined(
      separator: "-")
    let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.pad($0) }.joined(separator: ":")
    return "\(day)T\(time).\(Self.pad(Int32(milliseconds % 1_000), 3))Z"
  }

  private static func pad(_ number: Int32, _ count: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
