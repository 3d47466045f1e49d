@testable import BeansLogging
import Testing

@Suite struct TimestampPatternTests {
  private static let time = CivilTime(
    day: CivilDay(year: 2026, month: 3, day: 7), hour: 15, minute: 4, second: 9, nanosecond: 80_123_456, offset: 5_400)

  private func format(_ pattern: String, _ time: CivilTime = Self.time) -> String {
    var text = ""
    TimestampPattern(pattern).append(time, to: &text)
    return text
  }

  @Test(arguments: [
    ("dd/M/yyyy, H:mm:s", "07/3/2026, 15:04:9"),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ", "2026-03-07T15:04:09.080+01:30"),
    ("y yy yyyy yyyyy", "2026 26 2026 02026"),
    ("M MM MMM MMMM", "3 03 Mar March"),
    ("d dd", "7 07"),
    ("E EEE EEEE", "Sat Sat Saturday"),
    ("h hh a", "3 03 PM"),
    ("m mm s ss", "4 04 9 09"),
    ("S SS SSSSSS SSSSSSSSSSS", "0 08 080123 08012345600"),
    ("Z ZZZZ ZZZZZ", "+0130 GMT+01:30 +01:30"),
    ("'day' d ''d'' 'it''s'", "day 7 '7' it's"),
    ("d 'never closed d", "7 never closed d"),
    ("", ""), ("[x] – q", "[x] – q"), ("'", ""),
  ])
  func patternsFormatATime(_ pattern: String, _ expected: String) { #expect(format(pattern) == expected) }

  @Test(arguments: [
    ("yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ", ""), ("dd/M/yyyy, H:mm:s", ""), ("[d] – 'quoted'", ""),
    ("YYYY-MM-DDTHH", "YDT"), ("kXé", "kX"),
  ])
  func lettersThatAreNoFieldsAreListed(_ pattern: String, _ letters: String) {
    #expect(TimestampPattern(pattern).unknownLetters == Array(letters))
  }

  @Test func aLetterThatIsNoFieldIsAFaultWithPlaceAndAdvice() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      LogManager().registerLogger("", level: .warn, logs: [log])
      let formatter = LogFormatter.timestamp("YYYY q", file: "Shop/Log.swift", line: 7)
      #expect(
        log.messages == [
          "Shop/Log.swift:7: pattern \"YYYY q\" of a timestamp: Y is no field and is copied: the year is y, text "
            + "goes in quotes, 'Y'; q is no field and is copied: text goes in quotes, 'q'"
        ])
      #expect(log.entries.first?.logger == "Beans.Logging" && log.entries.first?.line == 7)
      #expect(formatter.format(LogEntry(logger: "", level: .info, message: "")) == "YYYY q")
      _ = LogFormatter.timestamp()
      #expect(log.entries.count == 1)
    }
  }

  @Test(arguments: [(0, "12 AM"), (1, "1 AM"), (11, "11 AM"), (12, "12 PM"), (13, "1 PM"), (23, "11 PM")])
  func hoursOfATwelveHourClockAreFormatted(_ hour: Int, _ expected: String) {
    #expect(format("h a", CivilTime(day: Self.time.day, hour: hour)) == expected)
  }

  @Test func zonesWestOfGreenwichAndUTCAreFormatted() {
    #expect(format("Z ZZZZ ZZZZZ", CivilTime(day: Self.time.day, offset: -12_600)) == "-0330 GMT-03:30 -03:30")
    #expect(format("Z ZZZZ ZZZZZ", CivilTime(day: Self.time.day)) == "+0000 GMT Z")
  }

  @Test func theLocalTimeIsThatOfTheZone() {
    // The UTC time is right in any time zone.
    let time = CivilTime(LogTimestamp(seconds: 1_795_262_400, nanoseconds: 5))
    let seconds = time.day.number * 86_400 + time.hour * 3_600 + time.minute * 60 + time.second - time.offset
    #expect(seconds == 1_795_262_400)
    #expect(time.nanosecond == 5)
  }

  @Test func yearsBeyondTheCalendarDoNoHarm() {
    _ = format("dd/M/yyyy EEEE", CivilTime(LogTimestamp(seconds: .max)))
    _ = format("dd/M/yyyy EEEE", CivilTime(LogTimestamp(seconds: .min)))
  }
}
