@testable import BeansLogging
import Testing

@Suite struct CivilDayTests {
  @Test(arguments: [
    (1970, 1, 1, 0), (1970, 1, 2, 1), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017),
    (2026, 11, 21, 20_778), (1600, 1, 1, -135_140),
  ])
  func daysHaveNumbers(_ year: Int, _ month: Int, _ day: Int, _ number: Int) {
    #expect(CivilDay(year: year, month: month, day: day).number == number)
  }

  @Test func numbersAreConsecutive() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var expected = CivilDay(year: 1999, month: 1, day: 1).number
    for year in 1999...2004 {
      for month in 1...12 {
        let leap = month == 2 && year % 4 == 0 ? 1 : 0
        for day in 1...(lengths[month - 1] + leap) {
          #expect(CivilDay(year: year, month: month, day: day).number == expected)
          expected += 1
        }
      }
    }
  }

  @Test func weekdaysCountFromSunday() {
    #expect(CivilDay(year: 1970, month: 1, day: 1).weekday == 4)
    #expect(CivilDay(year: 2026, month: 11, day: 22).weekday == 0)
    #expect(CivilDay(year: 1969, month: 12, day: 28).weekday == 0)
  }

  @Test func textIsReadAndWritten() {
    let day = CivilDay(year: 2026, month: 1, day: 9)
    #expect(day.text == "2026-01-09")
    #expect(CivilDay("2026-01-09") == day)
  }

  @Test(arguments: [
    "", "2026", "2026-1-09", "2026-01-9", "2026-13-01", "2026-00-10", "2026-01-32", "2026-01-00", "20a6-01-01",
    "2026-01-09-", "+026-01-01", "2026_01_01", "２０２６-01-01",
  ])
  func otherTextIsNoDay(_ text: String) { #expect(CivilDay(Substring(text)) == nil) }

  @Test func daysAreOrdered() {
    #expect(CivilDay(year: 2025, month: 12, day: 31) < CivilDay(year: 2026, month: 1, day: 1))
    #expect(CivilDay(year: 2026, month: 1, day: 9) < CivilDay(year: 2026, month: 1, day: 10))
  }
}
