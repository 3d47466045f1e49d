import BeansLogging
import Dispatch
import Glibc
import Testing

/// The one manager of the process. Each test has a process of its own: entries of other tests would go to this manager,
/// too.
@Suite struct InstalledLogManagerTests {
  @Test func loggersFollowTheInstalledManager() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      let logger = LogManager.getLogger(forName: "installed.a")
      let first = LogManager().registerLogger("", level: .info, logs: [log])
      #expect(LogManager.getSingleton() === first)
      logger.info("1")
      let other = MemoryLog()
      let second = LogManager(installing: false).registerLogger("installed", level: .warn, logs: [other])
      #expect(LogManager.getSingleton() === first)
      logger.warn("2")
      second.install()
      // Entries that the previous destination kept back are not lost.
      #expect(log.flushes == 1)
      logger.warn("3")
      first.registerLogger("", level: .all, logs: [log])
      logger.debug("unheard")
      second.registerLogger("installed", level: .debug, logs: [other])
      logger.debug("4")
      #expect(log.messages == ["1", "2"])
      #expect(other.messages == ["3", "4"])
      #expect(LogManager.getLogger(forName: "installed.a") === logger)
    }
  }

  @Test func loggersOfAManagerStayWithIt() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      let manager = LogManager().registerLogger("", level: .info, logs: [log])
      let logger = manager.getLogger(forName: "own")
      _ = LogManager()
      logger.info("1")
      #expect(log.messages == ["1"])
      #expect(!LogManager.getLogger(forName: "own").isEnabled(.fatal))
    }
  }

  @Test func flushAndShutdownConcernTheInstalledOne() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      LogManager().registerLogger("", level: .info, logs: [log])
      LogManager.flush()
      #expect(log.flushes == 1)
      LogManager.getSingleton().shutdown()
      #expect(log.flushes == 2)
      #expect(!LogManager.getLogger(forName: "a").isEnabled(.fatal))
    }
  }

  @Test func managersMayBeInstalledWhileThreadsLog() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      let managers = (0..<2).map { _ in LogManager(installing: false).registerLogger("", level: .info, logs: [log]) }
      managers[0].install()
      let logger = LogManager.getLogger(forName: "installed.b")
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<200 {
          if thread == 0 { managers[number % 2].install() }
          logger.info("\(number)")
        }
      }
      #expect(log.entries.count == 800)
    }
  }

  /// Reads the output of its process.
  @Test func warningsGoToStandardErrorUntilAManagerIsInstalled() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let logger = LogManager.getLogger(forName: "early")
      logger.info("unheard")
      logger.warn("heard")
      LogManager.flush()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("[early] WARN - heard\n"))
    #expect(!text.contains("unheard"))
  }

  /// The reader never reads again: a thread that logs, or an end of the process, that waited for it would never return.
  @Test(.timeLimit(.minutes(20))) func aStalledReaderOfStandardErrorDelaysNeitherThreadsNorTheEnd() async {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      let block = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
      while write(ends[1], block, block.count) > 0 {}
      _ = fcntl(ends[1], F_SETFL, 0)
      #expect(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO)
      let logger = LogManager.getLogger(forName: "stalled")
      for number in 0..<20_000 { logger.warn("\(number)") }
      // The testing library would write to standard error first.
      exit(EXIT_SUCCESS)
    }
  }
}
