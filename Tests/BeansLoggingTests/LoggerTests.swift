import BeansLogging
import Dispatch
import Synchronization
import Testing

@Suite struct LoggerTests {
  private let log = MemoryLog()
  private let manager = LogManager(installing: false)

  @Test func messagesBelowTheLevelAreNotEvenBuilt() {
    let logger = manager.registerLogger("a", level: .info, logs: [log]).getLogger(forName: "a")
    var built = 0
    func text(_ text: String) -> String {
      built += 1
      return text
    }
    func trace() -> Stacktrace? {
      built += 100
      return nil
    }
    logger.debug(text("1"))
    logger.log(.debug, error: Boom(), stackTrace: trace(), message: text("1"))
    #expect(built == 0)
    logger.info(text("2"))
    logger.warn(text("3"))
    logger.error(text("4"))
    logger.fatal(text("5"))
    logger.log(.warn, message: text("6"))
    #expect(built == 5)
    logger.error(Boom(), stackTrace: trace(), message: text("7"))
    #expect(built == 106)
    #expect(log.messages == ["2", "3", "4", "5", "6", "7"])
    #expect(log.entries.map(\.level) == [.info, .warn, .error, .fatal, .warn, .error])
    #expect(log.entries.allSatisfy { $0.logger == "a" })
  }

  @Test func aMessageIsBuiltOnceForSeveralDestinations() {
    let other = MemoryLog()
    let logger = manager.registerLogger("", level: .all, logs: [log, other]).getLogger(forName: "a")
    var built = 0
    func text() -> String {
      built += 1
      return "once"
    }
    logger.debug(text())
    #expect(built == 1)
    #expect(log.messages == ["once"] && other.messages == ["once"])
  }

  @Test func offWritesNoEntries() {
    let logger = manager.registerLogger("a", level: .off, logs: [log]).getLogger(forName: "a")
    for level in Level.allCases {
      #expect(!logger.isEnabled(level))
      logger.log(level, message: "unheard")
    }
    #expect(log.entries.isEmpty)
    manager.registerLogger("a", level: .all, logs: [log])
    logger.log(.off, message: "no level of a message")
    #expect(log.entries.isEmpty)
  }

  @Test func messagesWithoutADestinationAreNotBuilt() {
    let logger = manager.registerLogger("a", level: .all).getLogger(forName: "a")
    var built = 0
    func text() -> String {
      built += 1
      return ""
    }
    logger.fatal(text())
    #expect(built == 0)
    #expect(!logger.isEnabled(.fatal))
  }

  @Test func anEntryHasItsPlaceAndTime() throws {
    let logger = manager.registerLogger("", level: .all, logs: [log]).getLogger(forName: "here")
    let before = LogTimestamp.now
    logger.info("hello")
    let line = #line - 1
    let after = LogTimestamp.now
    let entry = try #require(log.entries.first)
    #expect(entry.file == "BeansLoggingTests/LoggerTests.swift")
    #expect(entry.function == "anEntryHasItsPlaceAndTime()")
    #expect(entry.line == line)
    #expect(entry.column > 1)
    #expect(!entry.thread.isEmpty)
    #expect((before...after).contains(entry.timestamp))
    #expect(entry.error == nil && entry.stackTrace == nil)
  }

  @Test func errorAndFatalBringTheErrorAndTheStack() throws {
    let logger = manager.registerLogger("", level: .all, logs: [log]).getLogger(forName: "a")
    logger.error(Boom(), message: "ouch")
    logger.fatal(Boom(), stackTrace: nil, message: "ouch again")
    logger.error(message: "no error")
    let entries = log.entries
    #expect(entries.map(\.level) == [.error, .fatal, .error])
    #expect(entries.map { $0.error is Boom } == [true, true, false])
    #expect(entries.map { $0.stackTrace == nil } == [false, true, false])
    let frames = try #require(entries[0].stackTrace?.frames)
    // It begins with the caller, not inside the logger.
    #expect(frames.first?.contains("errorAndFatalBringTheErrorAndTheStack") == true, "\(frames)")
  }

  @Test func manyThreadsLoseNoEntries() {
    manager.registerLogger("", level: .info, logs: [log])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let logger = manager.getLogger(forName: "thread.\(thread)")
      for number in 0..<500 { logger.info("\(number)") }
    }
    let entries = log.entries
    #expect(entries.count == 4_000)
    for thread in 0..<8 {
      #expect(entries.filter { $0.logger == "thread.\(thread)" }.map(\.message) == (0..<500).map { "\($0)" })
    }
  }

  @Test func loggersMayBeReconfiguredWhileThreadsLog() {
    let other = MemoryLog()
    manager.registerLogger("", level: .info, logs: [log])
    let logger = manager.getLogger(forName: "a.b")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 {
        if thread == 0 {
          manager.registerLogger("a", level: .info, logs: number % 2 == 0 ? [other] : [], inherit: true)
        }
        logger.info("\(thread).\(number)")
      }
    }
    // The root's destination is registered at all times.
    #expect(log.entries.count == 2_000)
  }
}
