import BeansLogging
import Testing

@Suite struct DelegatingLogTests {
  /// One of a user's own.
  private final class Only<T: Log>: DelegatingLog<T>, @unchecked Sendable {
    override func log(_ entry: LogEntry) {
      if entry.level >= .error { super.log(entry) }
    }
  }

  @Test func entriesAndFlushesAreHandedOn() {
    let memory = MemoryLog()
    let log = DelegatingLog(name: "on", delegate: memory)
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    log.flush()
    #expect(memory.messages == ["1"])
    #expect(memory.flushes == 1)
    #expect(log.name == "on")
  }

  @Test func aSubclassMayDecide() {
    let memory = MemoryLog()
    let logger = LogManager(installing: false)
      .registerLogger("", level: .all, logs: [Only(name: "only", delegate: memory)]).getLogger(forName: "a")
    logger.warn("unheard")
    logger.error("1")
    #expect(memory.messages == ["1"])
  }

  @Test func theBaseClassIgnoresAllEntries() {
    let log = Log(name: "base", formatter: .message(), colorize: true)
    log.log(LogEntry(logger: "a", level: .info, message: "1"))
    log.flush()
    #expect(log.format(LogEntry(logger: "a", level: .info, message: "1")) == "\u{1B}[32m1\u{1B}[0m")
  }
}
