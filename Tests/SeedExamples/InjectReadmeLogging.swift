import BeansLogging
import Foundation
import Testing

// The listings of the README of `inject`, in order: logging, and the destinations that it lists. It names tracing
// without a listing; the behaviour of its code is tested here, too.
//
// Changed by Swift 6: `static var logger` is `nonisolated(unsafe)`, and could as well be a `static let`.

private final class MyClass {
  // this is usually a static var in a class!
  nonisolated(unsafe) static var logger = LogManager.getLogger(forClass: MyClass.self)  // only used by one thread
}

private struct SomeError: Error {}

/// A destination of one's own, which the original did not allow.
private final class MemoryLog: Log, @unchecked Sendable {  // `lines` is only used by one thread
  var lines: [String] = []

  override func log(_ entry: LogEntry) { lines.append(format(entry)) }
}

@Suite("The README of inject: logging") struct InjectReadmeLogging {
  private func output(of result: ExitTest.Result?) throws -> [String] {
    let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }

  // These two run in processes of their own, which they configure, and whose output is read.

  @Test("The log manager is configured as a singleton")
  func singleton() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      // a composition of the different possible log entry constituents

      let formatter =
        LogFormatter.timestamp("dd/M/yyyy, H:mm:s") + " [" + LogFormatter.logger() + "] " + LogFormatter.level()
        + " - " + LogFormatter.message()
      let consoleLogger = ConsoleLog(name: "console", formatter: formatter, synchronize: false)

      LogManager()
        .registerLogger("", level: .OFF, logs: [QueuedLog(name: "console", delegate: consoleLogger)])  // root logger
        .registerLogger("Inject", level: .WARN)  // will inherit all log destinations
        .registerLogger("Inject.Environment", level: .ALL)

      LogManager.getLogger(forName: "Other").fatal("seed: unheard")
      LogManager.getLogger(forName: "Inject.Other").info("seed: unheard")
      LogManager.getLogger(forName: "Inject.Other").warn("seed: 1")
      LogManager.getLogger(forName: "Inject.Environment").debug("seed: 2")
      LogManager.flush()
    }
    let lines = try output(of: result).filter { $0.contains("seed: ") }
    try #require(lines.count == 2)
    #expect(lines[0].contains(/^\d\d\/\d\d?\/\d{4}, \d\d?:\d\d:\d\d? \[Inject\.Other\] WARN - seed: 1$/))
    #expect(lines[1].hasSuffix(" [Inject.Environment] DEBUG - seed: 2"))
  }

  @Test("A logger has the usual methods")
  func usualMethods() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      LogManager().registerLogger("", level: .ALL, logs: [ConsoleLog(name: "console")])
      let logger = MyClass.logger  // will lookup with the fully qualified name

      logger.warn("ouch!")  // this is a autoclosure!

      logger.fatal(SomeError(), message: "ouch")
    }
    let lines = try output(of: result)
    #expect(lines.contains { $0.hasSuffix(" [SeedExamples.MyClass] WARN - ouch!") })
    let start = lines.firstIndex { $0.hasSuffix(" [SeedExamples.MyClass] FATAL - ouch SomeError()") }
    let fatal = try #require(start)
    #expect(lines[(fatal + 1)...].first?.hasPrefix("    at ") == true)
    #expect(lines[(fatal + 1)...].contains { $0.contains("usualMethods") }, "\(lines)")
  }

  @Test("A message that is not written is not built; error and fatal write the message, the error and the stack trace")
  func autoclosure() {
    let log = MemoryLog(name: "memory", formatter: LogFormatter.level() + " - " + LogFormatter.message())
    let manager = LogManager(installing: false).registerLogger("", level: .WARN, logs: [log])
    let logger = manager.getLogger(forClass: MyClass.self)
    var built = 0
    func message() -> String {
      built += 1
      return "ouch"
    }
    logger.info(message())
    logger.error(SomeError(), message: message())
    #expect(built == 1 && log.lines.count == 1)
    #expect(log.lines.first?.hasPrefix("ERROR - ouch SomeError()\n    at ") == true, "\(log.lines)")
  }

  @Test("Destinations are file, rolling file and queued; the system's log replaces nslog")
  func destinations() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-logs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func content(_ name: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
    let path = folder.appendingPathComponent("plain.log").path
    let file = try FileLog(name: "file", fileName: path, formatter: .message(), synchronize: false)
    let rolling = try RollingFileLog(
      name: "rolling", directory: folder.path, baseName: "rolling", formatter: .message(), keepDays: 3)
    let manager = LogManager(installing: false)
      .registerLogger("", level: .ALL, logs: [QueuedLog(name: "queue", delegate: file), rolling])
      .registerLog(SyslogLog(name: "system"))
    manager.getLogger(forName: "a").info("first")
    // A day later: the first day is kept under its date.
    let later = LogTimestamp(seconds: LogTimestamp.now.seconds + 86_400)
    rolling.log(LogEntry(logger: "a", level: .info, message: "second", timestamp: later))
    manager.flush()
    #expect(try content("plain.log") == "first\n")
    #expect(try content("rolling.log") == "second\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let copies = names.filter { $0.contains(/^rolling-\d{4}-\d\d-\d\d\.log$/) }
    #expect(try copies.map(content) == ["first\n"])
    #expect(manager.log("system") is SyslogLog)
  }

  @Test("A path of the tracer has the level of its nearest ancestor")
  func tracing() {
    let log = MemoryLog(name: "trace", formatter: Tracer.format)
    let tracer = Tracer(destination: log)
    tracer.setTraceLevel("inject", level: .high)
    tracer.setTraceLevel("inject.xml", level: .off)
    tracer.trace("inject.loader", level: .high, message: "inherit from parent")
    tracer.trace("inject.loader", level: .full, message: "unheard")
    tracer.trace("inject.xml", level: .low, message: "unheard")
    tracer.trace("mapper", level: .low, message: "unheard")
    #expect(log.lines.count == 1)
    #expect(log.lines.first?.hasSuffix(" [inject.loader]: inherit from parent") == true, "\(log.lines)")
  }
}
