@testable import BeansLogging
import Dispatch
import Glibc
import Testing

@Suite struct ConsoleLogTests {
  /// Returns the text written to a console that is a pipe.
  private func text(synchronize: Bool, colorize: Bool = false, _ body: (ConsoleLog) -> Void) -> String {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let log = ConsoleLog(
      name: "console", formatter: .level() + " " + .message(), synchronize: synchronize, colorize: colorize,
      to: Output(standard: ends[1], label: "pipe"))
    body(log)
    close(ends[1])
    defer { close(ends[0]) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var count = read(ends[0], &buffer, buffer.count)
    while count > 0 {
      text += buffer[..<count]
      count = read(ends[0], &buffer, buffer.count)
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test(arguments: [true, false])
  func eachEntryIsALine(_ synchronize: Bool) {
    let written = text(synchronize: synchronize) {
      $0.log(LogEntry(logger: "a", level: .info, message: "größer"))
      $0.log(LogEntry(logger: "a", level: .off, message: ""))
    }
    #expect(written == "INFO größer\nOFF \n")
  }

  @Test func coloursAreWrittenOnRequestOnly() {
    let written = text(synchronize: true, colorize: true) {
      $0.log(LogEntry(logger: "a", level: .error, message: "x"))
    }
    #expect(written == "\u{1B}[31mERROR x\u{1B}[0m\n")
  }

  @Test func aMessageIsOneLine() {
    let written = text(synchronize: true) {
      $0.log(LogEntry(logger: "a", level: .info, message: "a\nINFO forged"))
    }
    #expect(written == "INFO a\\nINFO forged\n")
  }

  @Test(arguments: [true, false])
  func linesOfSeveralThreadsDoNotMix(_ synchronize: Bool) {
    let message = String(repeating: "x", count: 100)
    let written = text(synchronize: synchronize) { log in
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<50 { log.log(LogEntry(logger: "a", level: .info, message: message)) }
      }
    }
    #expect(written == String(repeating: "INFO \(message)\n", count: 200))
  }

  @Test func aStreamThatIsClosedDoesNoHarm() {
    let log = ConsoleLog(
      name: "console", formatter: .standard, synchronize: true, colorize: false,
      to: Output(standard: -1, label: "closed, in a test that says so"))
    log.log(LogEntry(logger: "a", level: .info, message: "lost"))
    log.flush()
  }
}
