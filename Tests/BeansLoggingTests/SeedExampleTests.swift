import BeansLogging
import Testing

private final class MyClass {
  // this is usually a static var in a class!
  nonisolated(unsafe) static var logger = LogManager.getLogger(forClass: MyClass.self)  // only used by one thread
}

private struct SomeError: Error {}

/// Each in a process of its own, which it configures, and whose output it reads.
@Suite struct SeedExampleTests {
  private func output(of result: ExitTest.Result?) throws -> [String] {
    let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }

  @Test func theSingletonIsConfigured() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
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

  @Test func theUsualMethodsAreProvided() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      LogManager().registerLogger("", level: .ALL, logs: [ConsoleLog(name: "console")])
      let logger = MyClass.logger

      logger.warn("ouch!")  // this is a autoclosure!

      logger.fatal(SomeError(), message: "ouch")
    }
    let lines = try output(of: result)
    #expect(lines.contains { $0.hasSuffix(" [BeansLoggingTests.MyClass] WARN - ouch!") })
    let start = lines.firstIndex { $0.hasSuffix(" [BeansLoggingTests.MyClass] FATAL - ouch SomeError()") }
    let fatal = try #require(start)
    #expect(lines[(fatal + 1)...].first?.hasPrefix("    at ") == true)
    #expect(lines[(fatal + 1)...].contains { $0.contains("theUsualMethodsAreProvided") }, "\(lines)")
  }
}
