import BeansLogging
import Testing

@Suite struct LogFormatterTests {
  private let entry = LogEntry(
    logger: "com.foo", level: .warn, message: "hello", thread: "worker", file: "M/F.swift", function: "f(x:)", line: 7,
    column: 9, timestamp: LogTimestamp(seconds: 1_795_262_400))

  @Test func eachPart() {
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

  @Test func aPartOfOnesOwn() {
    let formatter = LogFormatter(format: { "\($0.line * 2)" }) + LogFormatter { $0.file.uppercased() }
    #expect(formatter.format(entry) == "14M/F.SWIFT")
  }

  @Test func theStandardLine() {
    #expect(LogFormatter.standard.format(entry).contains(/^\d\d\/11\/2026, \d\d?:\d\d:0 \[com\.foo\] WARN - hello$/))
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

  @Test func everyLevelHasAColour() {
    let colours = Level.allCases.map { LogFormatter.colorize("x", level: $0) }
    #expect(
      colours
        == [90, 36, 32, 33, 31, 35, 35].map { "\u{1B}[\($0)mx\u{1B}[0m" })
  }
}
