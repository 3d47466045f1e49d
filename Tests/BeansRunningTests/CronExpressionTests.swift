import Foundation
import Testing

@testable import BeansRunning

@Suite("Cron expressions") struct CronExpressionTests {
  private static let utc: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    return calendar
  }()

  private func time(_ text: String) throws -> Int64 {
    Int64(try Date("\(text):00Z", strategy: .iso8601).timeIntervalSince1970)
  }

  /// Returns the next times after a time, as text.
  private func next(_ expression: String, after text: String, count: Int = 1, offset: Int64 = 0) throws -> [String] {
    let expression = try CronExpression(expression)
    var (time, found) = (try time(text), [String]())
    for _ in 0..<count {
      time = expression.next(after: time, in: ScheduleZone { _ in .seconds(offset) })
      found.append(String(Date(timeIntervalSince1970: Double(time)).ISO8601Format().prefix(16)))
    }
    return found
  }

  @Test(arguments: [
    ("* * * * *", "2026-11-26T13:35", ["2026-11-26T13:36", "2026-11-26T13:37"]),
    ("*/5 8-18 * * mon-fri", "2026-11-27T18:50", ["2026-11-27T18:55", "2026-11-30T08:00"]),
    ("30 2 * * *", "2026-12-31T02:30", ["2027-01-01T02:30"]),
    (
      "0,15,45-47 0 1 1 *", "2026-01-01T00:15",
      ["2026-01-01T00:45", "2026-01-01T00:46", "2026-01-01T00:47", "2027-01-01T00:00"]
    ),
    (
      "10/20 * * * *", "2026-01-01T00:00",
      ["2026-01-01T00:10", "2026-01-01T00:30", "2026-01-01T00:50", "2026-01-01T01:10"]
    ),
    // Month ends.
    (
      "0 0 31 * *", "2026-01-31T00:00",
      ["2026-03-31T00:00", "2026-05-31T00:00", "2026-07-31T00:00", "2026-08-31T00:00"]
    ),
    ("59 23 30 apr,FEB *", "2026-01-01T00:00", ["2026-04-30T23:59", "2027-04-30T23:59"]),
    // Leap years: 2000 was one, 2100 is none.
    ("0 0 29 2 *", "1999-01-01T00:00", ["2000-02-29T00:00", "2004-02-29T00:00"]),
    ("0 0 29 2 *", "2096-02-29T00:00", ["2104-02-29T00:00"]),
    // Sunday has two numbers, and ends a range.
    ("0 12 * * 0", "2026-11-26T00:00", ["2026-11-29T12:00"]),
    ("0 12 * * 7", "2026-11-26T00:00", ["2026-11-29T12:00"]),
    ("0 12 * * sat-sun", "2026-11-26T00:00", ["2026-11-28T12:00", "2026-11-29T12:00", "2026-12-05T12:00"]),
    // Either of two restricted days; both where one begins with a star.
    ("0 0 13 * fri", "2026-11-01T00:00", ["2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00"]),
    ("0 0 */2 * fri", "2026-11-01T00:00", ["2026-11-13T00:00", "2026-11-27T00:00"]),
    ("0 0 30 2 mon", "2026-02-01T00:00", ["2026-02-02T00:00"]),
    ("0 0 29 2 */7", "2026-01-01T00:00", ["2032-02-29T00:00"]),
    // Before 1970.
    ("0 0 1 1 *", "1967-12-31T23:59", ["1968-01-01T00:00"]),
  ])
  func anExpressionHasTheExpectedTimes(_ expression: String, _ start: String, _ expected: [String]) throws {
    #expect(try next(expression, after: start, count: expected.count) == expected)
  }

  @Test func anOffsetMovesTheDayAndTheHour() throws {
    #expect(try next("0 0 1 * *", after: "2026-01-15T00:00", offset: 3_600) == ["2026-01-31T23:00"])
    #expect(try next("0 0 1 * *", after: "2026-01-15T00:00", offset: -5 * 3_600) == ["2026-02-01T05:00"])
  }

  @Test func secondsWithinAMinuteAreIgnored() throws {
    let minute = try time("2026-01-01T00:10")
    let expression = try CronExpression("10 * * * *")
    #expect(expression.next(after: minute - 1) == minute)
    #expect(expression.next(after: minute) == minute + 3_600)
    #expect(expression.next(after: minute + 59) == minute + 3_600)
  }

  @Test(arguments: [
    ("", "has 0 fields"), ("* * * * * *", "has 6 fields"), ("60 * * * *", "minute: 60 is not between 0 and 59"),
    ("* 24 * * *", "hour: 24 is not between 0 and 23"), ("* * 0 * *", "day of the month: 0 is not between 1 and 31"),
    ("* * * 13 *", "month: 13 is not between 1 and 12"), ("* * * * 8", "day of the week: 8 is not between 0 and 7"),
    ("a * * * *", "minute: 'a' is no number"), ("* * * * mo", "day of the week: 'mo' is no number and no name"),
    ("5-1 * * * *", "minute: '5-1' ends before it begins"), ("*/0 * * * *", "minute: '0' is no step"),
    ("1, * * * *", "minute: '' is no number"), ("-1 * * * *", "minute: '' is no number"),
    ("*/x * * * *", "minute: 'x' is no step"), ("99999999999999999999 * * * *", "is no number"),
    ("0 0 31 4,6 *", "is never due"), ("0 0 30 2 *", "is never due"), ("0 0 31 2 */2", "is never due"),
  ])
  func aMalformedExpressionIsRefusedWithTheReason(_ expression: String, _ reason: String) {
    let error = #expect(throws: CronExpression.Malformed.self) { try CronExpression(expression) }
    #expect(error?.description.contains(reason) == true, "\(expression): \(error?.description ?? "")")
  }

  /// Compares every minute of some years with the calendar of Foundation.
  @Test func timesAgreeWithTheCalendar() throws {
    let expression = try CronExpression("7 3 */3 * *")
    var time = try time("1999-12-01T00:00")
    for _ in 0..<2_000 {
      let next = expression.next(after: time)
      let parts = Self.utc.dateComponents(
        [.minute, .hour, .day], from: Date(timeIntervalSince1970: Double(next)))
      #expect(parts.minute == 7 && parts.hour == 3 && ((parts.day ?? 0) - 1) % 3 == 0)
      #expect(next > time && next - time <= 3 * 86_400)
      time = next
    }
  }
}
