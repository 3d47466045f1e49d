import BeansLogging
import Testing

@Suite struct JSONFormatterTests {
  /// The line without the time, which depends on the zone.
  private func line(_ entry: LogEntry) -> String {
    let line = LogFormatter.json().format(entry)
    guard let time = line.firstMatch(of: /^\{"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d))",/) else {
      return "no time: \(line)"
    }
    return "{" + line[time.range.upperBound...]
  }

  @Test func anEntryIsOneObject() {
    let entry = LogEntry(
      logger: "com.foo", level: .warn, message: "hello", thread: "worker", metadata: [:])
    #expect(line(entry) == #"{"level":"WARN","logger":"com.foo","message":"hello","thread":"worker"}"#)
  }

  @Test func anEntryHasAllItsFields() {
    let entry = LogEntry(
      logger: "a", level: .error, message: "m", error: Boom(), stackTrace: Stacktrace(frames: ["f", "g"]), thread: "t",
      file: "M/F.swift", function: "f(x:)", line: 7, metadata: ["request": "17", "user": "ada"])
    #expect(
      line(entry)
        == #"{"level":"ERROR","logger":"a","message":"m","error":"boom","stack":["f","g"],"#
        + #""metadata":{"request":"17","user":"ada"},"thread":"t","file":"M/F.swift","line":7,"function":"f(x:)"}"#)
  }

  @Test(arguments: [
    ("\"\\\n\r\t\0", #"\"\\\n\r\t\u0000"#), ("\u{1B}\u{7F}\u{85}\u{2028}", #"\u001b\u007f\u0085\u2028"#),
    ("größer \u{1F600}", "größer \u{1F600}"), ("\",\"level\":\"FATAL", #"\",\"level\":\"FATAL"#),
  ])
  func stringsAreEscaped(_ value: String, _ written: String) {
    let entry = LogEntry(logger: "a", level: .info, message: value, thread: "t", metadata: [value: value])
    let expected =
      #"{"level":"INFO","logger":"a","message":""# + written + #"","metadata":{""# + written + #"":""# + written
      + #""},"thread":"t"}"#
    #expect(line(entry) == expected)
    #expect(LogFormatter.json().unescaped().format(entry) == LogFormatter.json().format(entry))
  }
}
