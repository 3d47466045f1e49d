import BeansLogging
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(20))) struct QueuedLogTests {
  private func entry(_ message: String) -> LogEntry { LogEntry(logger: "a", level: .info, message: message) }

  @Test func entriesAreWrittenElsewhereInTheirOrder() {
    let memory = MemoryLog { _ in dispatchPrecondition(condition: .notOnQueue(.main)) }
    let log = QueuedLog(name: "queue", delegate: memory)
    for number in 0..<1_000 { log.log(entry("\(number)")) }
    log.flush()
    #expect(memory.messages == (0..<1_000).map { "\($0)" })
    #expect(memory.flushes == 1)
  }

  @Test func aLoggingThreadDoesNotWaitForTheWriter() {
    let gate = DispatchSemaphore(value: 0)
    let memory = MemoryLog { _ in gate.wait() }
    let log = QueuedLog(name: "queue", delegate: memory, capacity: 10)
    for number in 0..<10 { log.log(entry("\(number)")) }
    #expect(memory.entries.isEmpty)
    for _ in 0..<10 { gate.signal() }
    log.flush()
    #expect(memory.entries.count == 10)
  }

  @Test func aFullQueueHoldsTheWriterUpAndLosesNoEntry() {
    let gate = DispatchSemaphore(value: 0)
    let memory = MemoryLog { _ in gate.wait() }
    let log = QueuedLog(name: "queue", delegate: memory, capacity: 3, whenFull: .wait)
    for number in 0..<3 { log.log(entry("\(number)")) }
    // The fourth has to wait: it can only come back after one was let through.
    let passed = DispatchGroup()
    passed.enter()
    let fourth = entry("3")
    DispatchQueue.global().async {
      log.log(fourth)
      passed.leave()
    }
    #expect(passed.wait(timeout: .now()) == .timedOut)
    for _ in 0..<4 { gate.signal() }
    passed.wait()
    log.flush()
    #expect(memory.messages == ["0", "1", "2", "3"])
  }

  @Test func aFullQueueDropsEntriesAndWritesTheirNumberInTheirPlace() {
    let (gate, isWriting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let memory = MemoryLog { _ in
      isWriting.signal()
      gate.wait()
    }
    let log = QueuedLog(name: "queue", delegate: memory, capacity: 2)
    log.log(entry("0"))
    isWriting.wait()
    // One is being written and one waits; the others find no room.
    for number in 1..<5 { log.log(entry("\(number)")) }
    #expect(log.dropped == 3)
    // Three entries and the report.
    for _ in 0..<2 { gate.signal() }
    isWriting.wait()
    isWriting.wait()
    log.log(entry("5"))
    for _ in 0..<2 { gate.signal() }
    log.flush()
    #expect(memory.messages == ["0", "1", "log 'queue' was full: 3 entries were dropped here", "5"])
    #expect(memory.entries[2].level == .warn)
    #expect(log.dropped == 3)
    #expect(LogManager(installing: false).registerLogger("", level: .info, logs: [log]).dropped == 3)
  }

  @Test func aFlushWithALimitDoesNotWaitForABlockedDestination() {
    let (gate, isWriting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let memory = MemoryLog { _ in
      isWriting.signal()
      gate.wait()
    }
    let log = QueuedLog(name: "queue", delegate: memory)
    let manager = LogManager(installing: false).registerLogger("", level: .info, logs: [log])
    log.log(entry("0"))
    isWriting.wait()
    #expect(!log.flush(within: .milliseconds(1)))
    #expect(!manager.flush(within: .zero))
    // A destination that is replaced holds nothing up either.
    manager.registerLogger("", level: .off)
    gate.signal()
    #expect(log.flush(within: .seconds(60)))
    #expect(memory.messages == ["0"])
  }

  @Test func aThreadOfItsOwnWritesTheEntries() throws {
    let (threads, written) = (MemoryLog(), DispatchSemaphore(value: 0))
    let log = QueuedLog(
      name: "queue",
      delegate: MemoryLog { _ in
        // An entry names the thread that makes it.
        threads.log(LogEntry(logger: "", level: .info, message: ""))
        written.signal()
      })
    try log.start()
    try log.start()
    for number in 0..<2 { log.log(entry("\(number)")) }
    for _ in 0..<2 { written.wait() }
    #expect(threads.entries.map(\.thread) == ["log", "log"])
  }

  @Test func aBusyDispatchQueueDelaysNoEntry() {
    let busy = DispatchQueue(label: "busy")
    busy.suspend()
    let memory = MemoryLog()
    let log = QueuedLog(name: "queue", delegate: memory, queue: busy, capacity: 4, whenFull: .wait)
    for number in 0..<10 { log.log(entry("\(number)")) }
    log.flush()
    #expect(memory.messages == (0..<10).map { "\($0)" })
    busy.resume()
    busy.sync {}
    #expect(memory.entries.count == 10)
  }

  @Test func manyThreadsLoseNoEntriesInASmallQueue() {
    let memory = MemoryLog()
    let manager = LogManager(installing: false)
      .registerLogger("", level: .all, logs: [QueuedLog(name: "queue", delegate: memory, capacity: 2, whenFull: .wait)])
    let logger = manager.getLogger(forName: "a")
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<200 { logger.info("\(thread) \(number)") }
    }
    manager.shutdown()
    #expect(memory.entries.count == 1_600)
    for thread in 0..<8 {
      #expect(
        memory.messages.filter { $0.hasPrefix("\(thread) ") } == (0..<200).map { "\(thread) \($0)" })
    }
  }

  /// A delegate that logs to its own queue neither waits for itself nor loses anything.
  @Test func aDelegateMayLogToItsOwnQueue() {
    let manager = LogManager(installing: false)
    let logger = manager.getLogger(forName: "a")
    let memory = MemoryLog { entry in
      if entry.message.count < 5 {
        logger.info(entry.message + "x")
        manager.flush()
      }
    }
    manager.registerLogger("", level: .all, logs: [QueuedLog(name: "queue", delegate: memory, capacity: 1)])
    logger.info("")
    manager.flush()
    #expect(memory.messages == ["", "x", "xx", "xxx", "xxxx", "xxxxx"])
    // Nothing holds itself any more.
    manager.registerLogger("", level: .off)
  }

  @Test func waitingEntriesAreWrittenAfterTheLogIsDropped() {
    let written = DispatchSemaphore(value: 0)
    let memory = MemoryLog { _ in written.signal() }
    do {
      let log = QueuedLog(name: "queue", delegate: memory)
      log.log(entry("1"))
    }
    written.wait()
  }

  @Test func aCapacityBelowOneMeansOne() {
    let memory = MemoryLog()
    let log = QueuedLog(name: "queue", delegate: memory, capacity: -5, whenFull: .wait)
    log.log(entry("1"))
    log.log(entry("2"))
    log.flush()
    #expect(memory.messages == ["1", "2"])
  }
}
