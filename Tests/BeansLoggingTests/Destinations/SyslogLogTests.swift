@testable import BeansLogging
@_spi(BeansPackage) import BeansErrors
import Glibc
import Testing

@Suite struct SyslogLogTests {
  private final class Sent: Sendable {
    let messages = Locked<[(Int32, String)]>([])
  }

  @Test func levelsBecomeSeverities() {
    let sent = Sent()
    let log = SyslogLog(
      name: "syslog", formatter: nil, synchronize: true, colorize: false, facility: 24,
      send: { priority, text in sent.messages.withLock { $0.append((priority, text)) } })
    for level in Level.allCases { log.log(LogEntry(logger: "a", level: level, message: "100 %s")) }
    let messages = sent.messages.withLock { $0 }
    #expect(messages.map(\.0) == [7, 7, 6, 4, 3, 2, 2].map { 24 | $0 })
    #expect(messages.allSatisfy { $0.1 == "[a] 100 %s" })
  }

  /// `syslog` reads the text up to the NUL: the rest of the entry would be lost.
  @Test func aNulInTheTextIsWrittenAsAnEscape() {
    let sent = Sent()
    let log = SyslogLog(
      name: "syslog", formatter: .message().unescaped(), synchronize: true, colorize: false, facility: nil,
      send: { priority, text in sent.messages.withLock { $0.append((priority, text)) } })
    log.log(LogEntry(logger: "a", level: .info, message: "user 'x\0' has tried\0"))
    #expect(sent.messages.withLock { $0.map(\.1) } == [#"user 'x\0' has tried\0"#])
  }

  @Test func aLineBreakIsEscaped() {
    let sent = Sent()
    let log = SyslogLog(
      name: "syslog", formatter: nil, synchronize: true, colorize: false, facility: nil,
      send: { priority, text in sent.messages.withLock { $0.append((priority, text)) } })
    log.log(LogEntry(logger: "a", level: .info, message: "a\nforged"))
    #expect(sent.messages.withLock { $0.map(\.1) } == [#"[a] a\nforged"#])
  }

  @Test func theSystemAcceptsAllEntries() {
    // The test cannot know if a syslog daemon listens; a format in the text must not be followed.
    let log = SyslogLog(name: "syslog", formatter: .message())
    log.log(LogEntry(logger: "a", level: .debug, message: "a test's %s %n %d, to be ignored"))
    log.flush()
  }
}
