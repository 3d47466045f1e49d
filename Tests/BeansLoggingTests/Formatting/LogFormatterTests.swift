import BeansLogging
import Testing

@Suite struct LogFormatterTests {
  private let entry = LogEntry(
    logger: "com.foo", level: .warn, message: "hello", thread: "worker", file: "M/F.swift", function: "f(x:)", line: 7,
    column: 9, timestamp: LogTimestamp(seconds: 1_795_262_400))

  @Test func eachPartIsFormatted() {
    let parts: [LogFormatter] = [
      .string("text"), .level(), .logger(), .thread(), .file(), .function(), .line(), .column(), .message(),
    ]
    #expect(
      parts.map { $0.format(entry) }
        == ["text", "WARN", "com.foo", "worker", "M/F.swift", "f(x:)", "7", "9", "hello"])
  }

  @Test func partsAndStringsAreJoined() {
    let formatter = "<" + LogFormatter.level() + "> " + LogFormatter.logger() + LogFormatter.string(":") + "!"
    #expect(formatter.format(entry) == "<WARN> com.foo:!")
  }

  @Test func aCustomPartIsFormatted() {
    let formatter = LogFormatter(format: { "\($0.line * 2)" }) + LogFormatter { $0.file.uppercased() }
    #expect(formatter.format(entry) == "14M/F.SWIFT")
  }

  @Test func theStandardLineHasAllParts() {
    let line = LogFormatter.standard.format(entry)
    #expect(
      line.contains(/^2026-11-2\dT\d\d:\d\d:00\.000(Z|[+-]\d\d:\d\d) \[com\.foo\] WARN - hello$/), "\(line)")
    // The pattern of the seeds.
    let seeds = LogFormatter.timestamp("dd/M/yyyy, H:mm:s").format(entry)
    #expect(seeds.contains(/^\d\d\/11\/2026, \d\d?:\d\d:0$/), "\(seeds)")
    #expect(LogFormatter.timestamp("yyyy").format(entry) == "2026")
  }

  @Test func theMessageEndsWithErrorAndStack() {
    func format(_ message: String, _ error: (any Error)?, _ trace: Stacktrace?) -> String {
      LogFormatter.message().format(
        LogEntry(logger: "", level: .error, message: message, error: error, stackTrace: trace))
    }
    #expect(format("m", Boom(), nil) == "m boom")
    #expect(format("", Boom(), nil) == "boom")
    #expect(format("m", nil, Stacktrace(frames: ["a", "b"])) == "m\n    at a\n    at b")
    #expect(format("m", Boom(), Stacktrace(frames: [])) == "m boom")
  }

  @Test(arguments: [
    ("a\nforged", #"a\nforged"#), ("a\r\nb", #"a\r\nb"#), ("\u{1B}[2J", #"\u{1B}[2J"#), ("a\tb\0", #"a\tb\0"#),
    ("\u{7F}\u{85}\u{2028}\u{2029}", #"\u{7F}\u{85}\u{2028}\u{2029}"#),
    ("größer 4°C €  \u{1F600}", "größer 4°C €  \u{1F600}"),
  ])
  func valuesOfAnEntryCannotForgeALine(_ value: String, _ escaped: String) {
    let entry = LogEntry(
      logger: value, level: .error, message: value, error: Told(description: value), thread: value, file: value,
      function: value)
    let parts: [LogFormatter] = [.message(), .logger(), .thread(), .file(), .function(), LogFormatter { $0.message }]
    #expect(parts.map { $0.format(entry) } == ["\(escaped) \(escaped)"] + Array(repeating: escaped, count: 5))
  }

  @Test func fixedTextsAreNotEscaped() {
    #expect((LogFormatter.level() + "\n\t").format(entry) == "WARN\n\t")
  }

  @Test func aFormatterMayLeaveValuesAsTheyAre() {
    let entry = LogEntry(logger: "a\n", level: .info, message: "b\n")
    let formatter = LogFormatter.message().unescaped() + LogFormatter.logger()
    #expect(formatter.format(entry) == "b\na\\n")
    #expect(LogFormatter { $0.message }.unescaped().format(entry) == "b\n")
  }

  @Test func everyLevelHasAColour() {
    let colours = Level.allCases.map { LogFormatter.colorize("x", level: $0) }
    #expect(
      colours
        == [90, 36, 32, 33, 31, 35, 35].map { "\u{1B}[\($0)mx\u{1B}[0m" })
  }
}
