/// The time zone of a schedule: the offset of its wall clock from UTC, at any time.
///
/// A program that needs a zone makes it from a zone of Foundation, which this module does not link:
///
/// ```swift
/// ScheduleZone { .seconds(berlin.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0.components.seconds)))) }
/// ```
///
/// Here `berlin` is `TimeZone(identifier: "Europe/Berlin")`.
public struct ScheduleZone: Sendable {
  private let offset: @Sendable (Duration) -> Duration

  /// Creates a zone.
  ///
  /// - Parameter offset: returns the time by which the wall clock is ahead of UTC, given a time since 1970-01-01 00:00
  ///   UTC; negative where it is behind. Called on any thread, several times for each call of a schedule. An offset of
  ///   more than a day counts as a day.
  public init(offset: @escaping @Sendable (_ timeSinceEpoch: Duration) -> Duration) { self.offset = offset }

  /// Coordinated Universal Time, the zone of a schedule that names none.
  public static let utc = ScheduleZone { _ in .zero }

  private static let day: Int64 = 86_400

  /// Returns the offset at a time, both in seconds.
  private func offset(at time: Int64) -> Int64 {
    min(max(offset(.seconds(time)).components.seconds, -Self.day), Self.day)
  }

  /// A time during which the offset is the same, in seconds since 1970, UTC.
  private struct Stretch {
    let times: Range<Int64>
    let offset: Int64
  }

  /// Returns the times from a time on that have its offset, for a day at the longest: no zone changes its offset twice
  /// within a day.
  private func stretch(from begin: Int64) -> Stretch {
    let offset = offset(at: begin)
    var end = begin + Self.day
    guard self.offset(at: end) != offset else { return Stretch(times: begin..<end, offset: offset) }
    var last = begin
    while end - last > 1 {
      let middle = last + (end - last) / 2
      if self.offset(at: middle) == offset { last = middle } else { end = middle }
    }
    return Stretch(times: begin..<end, offset: offset)
  }

  /// Returns the latest time that the wall clock has shown until a time: not the present one where the clock has been set
  /// back since.
  func latestLocalTime(until time: Int64) -> Int64 {
    var latest = time + offset(at: time)
    // The offset changes by two days at most.
    var begin = time - 2 * Self.day
    while begin < time {
      let stretch = stretch(from: begin)
      latest = max(latest, min(stretch.times.upperBound - 1, time) + stretch.offset)
      begin = stretch.times.upperBound
    }
    return latest
  }

  /// Returns the time at which the wall clock first shows a local time, or a later one where it skips that time.
  ///
  /// - Parameters:
  ///   - local: the local time, as seconds since 1970 in a zone without an offset.
  ///   - time: a time before, UTC.
  func time(of local: Int64, after time: Int64) -> Int64 {
    var begin = max(time + 1, local - Self.day)
    while true {
      let stretch = stretch(from: begin)
      let due = max(begin, local - stretch.offset)
      if stretch.times.contains(due) { return due }
      begin = stretch.times.upperBound
    }
  }
}
