import BeansLogging
import Dispatch
import Dispatch
import Testing

/// The manager is one for the process, so its tests run one after the other.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct LogManagerTests {
  /// Other suites of the process log, too: only the loggers of these tests count.
  ///
  /// With a semaphore, not a `Mutex`: ThreadSanitizer does not see what a contended `Mutex` orders.
  private final class Sink: @unchecked Sendable {  // `semaphore` protects `received`
    private let semaphore = DispatchSemaphore(value: 1)
    private var received: [LogEntry] = []

    private func alone<R>(_ body: () -> R) -> R {
      semaphore.wait()
      defer { semaphore.signal() }
      return body()
    }

    var destination: LogManager.Destination { { entry in self.alone { self.received.append(entry) } } }
    var entries: [LogEntry] { alone { received.filter { $0.logger.hasPrefix("logging.") } } }
  }

  @Test func entriesBelowTheThresholdAreNotEvenBuilt() {
    let sink = Sink()
    LogManager.configure(level: .info, destination: sink.destination)
    defer { LogManager.configure(level: .warn, destination: LogManager.standardError) }
    let logger = LogManager.getLogger(forName: "logging.a.b")
    var built = 0
    func text(_ text: String) -> String {
      built += 1
      return text
    }
    logger.debug(text("1"))
    #expect(built == 0)
    logger.info(text("2"))
    logger.warn(text("3"))
    logger.error(text("4"))
    logger.log(.fatal, text("5"))
    #expect(built == 4)
    #expect(sink.entries.map(\.message) == ["2", "3", "4", "5"])
    #expect(sink.entries.map(\.level) == [.info, .warn, .error, .fatal])
    #expect(sink.entries.allSatisfy { $0.logger == "logging.a.b" })
  }

  @Test func offSilencesEverything() {
    let sink = Sink()
    LogManager.configure(level: .off, destination: sink.destination)
    defer { LogManager.configure(level: .warn, destination: LogManager.standardError) }
    LogManager.getLogger(forName: "logging.a").log(.fatal, "unheard")
    #expect(sink.entries.isEmpty)
    #expect(!LogManager.isEnabled(.fatal))
  }

  @Test func theDestinationStaysWhereOnlyTheLevelChanges() {
    let sink = Sink()
    LogManager.configure(level: .warn, destination: sink.destination)
    defer { LogManager.configure(level: .warn, destination: LogManager.standardError) }
    LogManager.configure(level: .debug)
    LogManager.getLogger(forName: "logging.a").debug("heard")
    #expect(sink.entries.map(\.message) == ["heard"])
  }

  @Test func manyThreadsLoseNothing() {
    let sink = Sink()
    LogManager.configure(level: .info, destination: sink.destination)
    defer { LogManager.configure(level: .warn, destination: LogManager.standardError) }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 { LogManager.getLogger(forName: "logging.\(thread)").info("\(number)") }
    }
    #expect(sink.entries.count == 4_000)
    for thread in 0..<8 {
      #expect(sink.entries.filter { $0.logger == "logging.\(thread)" }.map(\.message) == (0..<500).map { "\($0)" })
    }
  }

  @Test func aDestinationMayReconfigure() {
    let sink = Sink()
    LogManager.configure(level: .info) { entry in
      if entry.logger == "logging.a" { LogManager.configure(level: .info, destination: sink.destination) }
    }
    defer { LogManager.configure(level: .warn, destination: LogManager.standardError) }
    let logger = LogManager.getLogger(forName: "logging.a")
    logger.info("switches")
    logger.info("arrives")
    #expect(sink.entries.map(\.message) == ["arrives"])
  }
}
