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

  @Test func whoeverLogsDoesNotWaitForTheWriter() {
    let gate = DispatchSemaphore(value: 0)
    let memory = MemoryLog { _ in gate.wait() }
    let log = QueuedLog(name: "queue", delegate: memory, capacity: 10)
    for number in 0..<10 { log.log(entry("\(number)")) }
    #expect(memory.entries.isEmpty)
    for _ in 0..<10 { gate.signal() }
    log.flush()
    #expect(memory.entries.count == 10)
  }

  @Test func aFullQueueHoldsTheWriterUpAndLosesNothing() {
    let gate = DispatchSemaphore(value: 0)
    let memory = MemoryLog { _ in gate.wait() }
    let log = QueuedLog(name: "queue", delegate: memory, capacity: 3)
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

  @Test func aBusyDispatchQueueHoldsNothingUp() {
    let busy = DispatchQueue(label: "busy")
    busy.suspend()
    let memory = MemoryLog()
    let log = QueuedLog(name: "queue", delegate: memory, queue: busy, capacity: 4)
    for number in 0..<10 { log.log(entry("\(number)")) }
    log.flush()
    #expect(memory.messages == (0..<10).map { "\($0)" })
    busy.resume()
    busy.sync {}
    #expect(memory.entries.count == 10)
  }

  @Test func manyThreadsLoseNothingThroughASmallQueue() {
    let memory = MemoryLog()
    let manager = LogManager(installing: false)
      .registerLogger("", level: .all, logs: [QueuedLog(name: "queue", delegate: memory, capacity: 2)])
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

  @Test func whatWaitsIsWrittenAlthoughTheLogIsDropped() {
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
    let log = QueuedLog(name: "queue", delegate: memory, capacity: -5)
    log.log(entry("1"))
    log.log(entry("2"))
    log.flush()
    #expect(memory.messages == ["1", "2"])
  }
}
