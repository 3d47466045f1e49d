import BeansLogging
import Foundation
import Testing

/// Counts the entries that arrive.
final class CountingLog: Log, @unchecked Sendable {  // `count` is only used by the test's thread
  private(set) var count = 0

  override func log(_ entry: LogEntry) { count += 1 }
}

extension AcceptanceFacts {
  private struct Failure: Error {}

  private func manager(_ log: CountingLog) -> LogManager {
    LogManager(installing: false)
      .registerLogger("", level: .OFF, logs: [log])
      .registerLogger("com", level: .WARN, inherit: true)
      .registerLogger("com.foo", level: .ALL, inherit: true)
  }

  @Test("22: the root, which is off, has the empty path and logs nothing")
  func rootLogger() {
    let log = CountingLog(name: "counting")
    let logger = manager(log).getLogger(forName: "")
    #expect(logger.path == "")
    logger.debug("debug")
    logger.fatal(Failure(), message: "fatal")
    #expect(log.count == 0)
  }

  @Test("23: a logger that was not registered has its own path, its parent's level and the root's destination")
  func inheritingLogger() {
    let log = CountingLog(name: "counting")
    let logger = manager(log).getLogger(forName: "com.bar")
    #expect(logger.path == "com.bar")
    logger.debug("debug")
    logger.info("info")
    logger.warn("warn")
    logger.fatal(Failure(), message: "fatal")
    #expect(log.count == 2)
  }

  @Test("24: a rolling file writes to a folder of its own")
  func rollingFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let log = try RollingFileLog(
      name: "rolling", directory: folder.path, baseName: "application", formatter: .message(), keepDays: 5)
    let manager = LogManager(installing: false).registerLogger("", level: .ALL, logs: [log])
    manager.getLogger(forName: "com.foo").info("hello")
    let file = folder.appendingPathComponent("application.log")
    #expect(try String(contentsOf: file, encoding: .utf8) == "hello\n")
  }
}
