import Testing

@testable import BeansConfiguration

@Suite struct DurationTextTests {
  @Test(arguments: [
    ("250ms", Duration.milliseconds(250)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("1h", .seconds(3600)),
    ("10us", .microseconds(10)), ("10µs", .microseconds(10)), ("7ns", .nanoseconds(7)), ("2d", .seconds(172_800)),
    ("1.5s", .milliseconds(1500)), ("0.25ms", .microseconds(250)), ("1h30m", .seconds(5400)),
    (" 1m 5s ", .seconds(65)), ("-3s", .seconds(-3)), ("0", .zero), ("+1s", .seconds(1)),
  ])
  func numbersWithUnitsAreParsed(text: String, expected: Duration) throws {
    #expect(try DurationText.parse(text) == expected)
  }

  @Test(arguments: [
    "", " ", "30", "s", "-", "1.s", ".5s", "1..5s", "1.2.3s", "5 s", "1w", "1S", "1e3s", "s1", "1s-2s",
    "99999999999999999999s",
    "9223372036854775808s", "9223372036854775807d", "106751991167300d106751991167300d", "١s",
  ])
  func textsThatAreNoDurationsAreRefused(text: String) {
    #expect(throws: (any Error).self) { try DurationText.parse(text) }
  }

  @Test func theLargestDurationIsParsed() throws {
    #expect(try DurationText.parse("9223372036854775807s").components.seconds == .max)
    #expect(try DurationText.parse("-9223372036854775807s").components.seconds == -.max)
  }

  @Test(arguments: ["250ms", "30s", "5m", "1h", "10us", "7ns", "2d", "1500ms", "90m", "0s", "-3s"])
  func formattedDurationsAreParsedAgain(text: String) throws {
    #expect(DurationText.format(try DurationText.parse(text)) == text)
  }

  @Test func longDecimalsAreTruncated() throws {
    #expect(try DurationText.parse("0." + String(repeating: "3", count: 1000) + "s") < .milliseconds(334))
    #expect(DurationText.format(Duration(attoseconds: 1_500_000_000)) == "1ns")
  }
}
