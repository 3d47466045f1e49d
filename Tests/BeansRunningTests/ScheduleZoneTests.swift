import Foundation
import Testing

@testable import BeansRunning

/// The zones of the tests: with changes at two and three o'clock, of half an hour, and at midnight.
let zonesOfTests = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"]

extension ScheduleZone {
  init(_ zone: TimeZone) {
    self.init { .seconds(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0.components.seconds)))) }
  }
}

/// A naive model of a zone: the local time of every minute of some days.
private struct ModelOfZone {
  /// The first minute of the days, and the first one after them: in minutes since 1970, UTC.
  let minutes: Range<Int>
  /// The minutes whose offset is not that of the minute before.
  private(set) var changes: [Int] = []
  /// The first minute at which the wall clock shows a local minute, by the local minute minus `firstLocal`.
  private var shown: [Int?]
  private let firstLocal: Int

  init(_ zone: TimeZone, from start: Int, days: Int) {
    minutes = start..<start + days * 1_440
    firstLocal = start - 1_440
    shown = Array(repeating: nil, count: (days + 2) * 1_440)
    var last: Int?
    // The changes of these years are at quarters of an hour.
    for quarter in stride(from: start, to: minutes.upperBound, by: 15) {
      let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(quarter) * 60)) / 60
      if let last, last != offset { changes.append(quarter) }
      last = offset
      for minute in quarter..<quarter + 15 {
        let place = minute + offset - firstLocal
        shown[place] = shown[place] ?? minute
      }
    }
  }

  /// Returns the minutes that are due, in seconds since 1970: for each local minute that `isDue` accepts, the first minute
  /// that shows it, or the first one after a change that skips it.
  func due(_ isDue: (LocalMinute) -> Bool) -> [Int64] {
    var found: [Int64] = []
    var next: Int?
    for place in shown.indices.reversed() {
      next = shown[place] ?? next
      // The minutes before the first day and after the last one are not known.
      guard let next, isDue(LocalMinute(place + firstLocal)) else { continue }
      if found.last != Int64(next) * 60 { found.append(Int64(next) * 60) }
    }
    return found.reversed()
  }
}

/// The fields of a local minute.
private struct LocalMinute {
  let minute, hour, day, month, weekday: Int

  init(_ minutes: Int) {
    let days = minutes / 1_440
    let parts = Self.dates[days - Self.firstDay]
    (minute, hour) = (minutes % 60, minutes % 1_440 / 60)
    (day, month, weekday) = parts
  }

  private static let firstDay = 19_350

  /// The dates of 2023, some days of 2022 and some of 2024.
  private static let dates: [(Int, Int, Int)] = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return (firstDay..<firstDay + 420).map { day in
      let parts = calendar.dateComponents(
        [.day, .month, .weekday], from: Date(timeIntervalSince1970: Double(day) * 86_400))
      return (parts.day ?? 0, parts.month ?? 0, (parts.weekday ?? 0) - 1)
    }
  }()
}

@Suite("Zones of schedules") struct ScheduleZoneTests {
  /// 2023-01-01, in minutes since 1970.
  private static let start = 19_358 * 1_440

  private static let expressions: [(String, @Sendable (LocalMinute) -> Bool)] = [
    ("30 2 * * *", { $0.hour == 2 && $0.minute == 30 }),
    ("0 0 * * *", { $0.hour == 0 && $0.minute == 0 }),
    ("*/10 0-3 * * sun", { $0.minute % 10 == 0 && $0.hour < 4 && $0.weekday == 0 }),
    ("59 23,1 1-7 * *", { $0.minute == 59 && [1, 23].contains($0.hour) && $0.day < 8 }),
    ("0 * * * *", { $0.minute == 0 }),
    ("15 1 1,15 feb-dec *", { $0.minute == 15 && $0.hour == 1 && [1, 15].contains($0.day) && $0.month > 1 }),
  ]

  @Test("Every time of a year is due as the rule says, in each zone", arguments: zonesOfTests)
  func wholeYear(_ identifier: String) throws {
    let zone = try #require(TimeZone(identifier: identifier))
    let model = ModelOfZone(zone, from: Self.start, days: 365)
    #expect(model.changes.count == 2)
    for (text, isDue) in Self.expressions {
      let expression = try CronExpression(text)
      // The model knows no change of the offset before its first day and after its last one.
      let (first, end) = (Int64(Self.start + 1_440) * 60, Int64(model.minutes.upperBound - 1_440) * 60)
      let expected = model.due(isDue).filter { $0 > first && $0 < end }
      var found: [Int64] = []
      var time = first
      while true {
        time = expression.next(after: time, in: ScheduleZone(zone))
        if time >= end { break }
        found.append(time)
      }
      #expect(found == expected, "\(text)")
    }
  }

  @Test("From every minute around a change the next time is the rule's, in each zone", arguments: zonesOfTests)
  func aroundChanges(_ identifier: String) throws {
    let zone = try #require(TimeZone(identifier: identifier))
    let everyMinute = ("* * * * *", { @Sendable (_: LocalMinute) in true })
    for change in ModelOfZone(zone, from: Self.start, days: 365).changes {
      let model = ModelOfZone(zone, from: change - 2 * 1_440, days: 40)
      for (text, isDue) in [everyMinute] + Self.expressions {
        let expression = try CronExpression(text)
        var expected = model.due(isDue)[...]
        for time in stride(from: Int64(change - 180) * 60 - 1, to: Int64(change + 180) * 60, by: 59) {
          expected = expected.drop { $0 <= time }
          #expect(expression.next(after: time, in: ScheduleZone(zone)) == expected.first, "\(text) after \(time)")
        }
      }
    }
  }

  /// Returns a zone whose offset changes once, at a time in seconds since 1970: from some hours to others.
  private func zone(changing time: Int64, from before: Int, to after: Int) -> ScheduleZone {
    ScheduleZone { $0 < .seconds(time) ? .seconds(before * 3_600) : .seconds(after * 3_600) }
  }

  @Test("A day that a zone skips is made up for at the beginning of the next one, once")
  func skippedDay() throws {
    // Samoa had no December 30, 2011.
    let change: Int64 = 1_325_239_200
    let samoa = zone(changing: change, from: -10, to: 14)
    let expression = try CronExpression("0 6,18 * * *")
    let evening = change - 6 * 3_600
    #expect(expression.next(after: evening - 1, in: samoa) == evening)
    #expect(expression.next(after: evening, in: samoa) == change)
    #expect(expression.next(after: change, in: samoa) == change + 6 * 3_600)
  }

  @Test("A day that a zone repeats has its times once")
  func repeatedDay() throws {
    let change: Int64 = 1_325_239_200
    let back = zone(changing: change, from: 14, to: -10)
    let expression = try CronExpression("0 6,18 * * *")
    let evening = change - 6 * 3_600
    #expect(expression.next(after: evening - 1, in: back) == evening)
    #expect(expression.next(after: evening, in: back) == change + 30 * 3_600)
    #expect(expression.next(after: change + 20 * 3_600, in: back) == change + 30 * 3_600)
  }

  @Test("An offset that no clock has counts as a day, and every search ends")
  func impossibleOffsets() throws {
    let expression = try CronExpression("0 0 * * *")
    let ahead = ScheduleZone { _ in .seconds(Int64.max) }
    #expect(expression.next(after: 1_000_000_000, in: ahead) == 1_000_080_000)
    let behind = ScheduleZone { _ in .seconds(Int64.min) }
    #expect(expression.next(after: 1_000_000_000, in: behind) == 1_000_080_000)
    let wild = ScheduleZone { .seconds($0.components.seconds % 7 * 50_000 - 100_000) }
    let next = expression.next(after: 1_000_000_000, in: wild)
    #expect(next > 1_000_000_000 && next < 1_000_000_000 + 4 * 86_400)
  }
}
