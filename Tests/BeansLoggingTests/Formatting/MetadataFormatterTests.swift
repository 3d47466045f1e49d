import BeansLogging
import Testing

@Suite struct MetadataFormatterTests {
  private func entry(_ metadata: LogMetadata) -> LogEntry {
    LogEntry(logger: "a", level: .info, message: "m", metadata: metadata)
  }

  @Test func keysAndValuesAreSeparatedByBlanks() {
    let formatter = LogFormatter.metadata(prefix: "<", suffix: ">")
    #expect(formatter.format(entry(["request": "17", "user": "ada"])) == "<request=17 user=ada>")
    #expect(formatter.format(entry([:])) == "")
  }

  @Test func aSingleKeyIsFormatted() {
    let formatter = LogFormatter.metadata("request", prefix: "[", suffix: "]")
    #expect(formatter.format(entry(["request": "1 7"])) == "[1 7]")
    #expect(formatter.format(entry(["user": "ada"])) == "")
  }

  @Test(arguments: [
    ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#), ("a}", #""a}""#), (#"a"b\c"#, #""a\"b\\c""#),
    ("a\nb", #"a\nb"#), ("a\n} forged", #""a\n} forged""#), ("größer", "größer"),
  ])
  func aValueCannotBeMistakenForAnotherOne(_ value: String, _ written: String) {
    #expect(LogFormatter.metadata().format(entry(["k": value])) == "k=\(written)")
  }

  @Test func theStandardLinesHaveTheMetadata() {
    #expect(LogFormatter.standard.format(entry(["request": "17"])).hasSuffix(" [a] INFO {request=17} - m"))
    #expect(LogFormatter.standard.format(entry([:])).hasSuffix(" [a] INFO - m"))
  }
}
