import BeansLogging
import Dispatch
import Testing

@Suite struct TracerTests {
  private let log = MemoryLog()
  private let tracer: Tracer

  init() { tracer = Tracer(destination: log) }

  @Test func tracesAreOffAtFirstAndNoMessageIsBuilt() {
    var built = 0
    func text() -> String {
      built += 1
      return ""
    }
    for level in Tracer.Level.allCases {
      tracer.trace("a", level: level, message: text())
      #expect(!tracer.isEnabled("a", level: level))
    }
    #expect(built == 0)
    tracer.setTraceLevel("b", level: .full)
    tracer.trace("a", level: .low, message: text())
    #expect(built == 0)
    tracer.trace("b", level: .full, message: text())
    #expect(built == 1)
    tracer.setTraceLevel("b", level: .off)
    tracer.trace("b", level: .low, message: text())
    tracer.trace("b", level: .off, message: text())
    #expect(built == 1)
    #expect(log.entries.count == 1)
  }

  @Test func levelsAreInheritedAlongThePath() {
    tracer.setTraceLevel("inject", level: .medium)
    tracer.setTraceLevel("inject.runtime", level: .full)
    tracer.setTraceLevel("inject.loader.xml", level: .off)
    tracer.trace("inject.loader", level: .medium, message: "1")
    tracer.trace("inject.loader", level: .high, message: "unheard")
    tracer.trace("inject.runtime.bean", level: .full, message: "2")
    tracer.trace("inject.loader.xml", level: .low, message: "unheard")
    tracer.trace("injection", level: .low, message: "unheard")
    #expect(log.messages == ["1", "2"])
    #expect(log.entries.map(\.logger) == ["inject.loader", "inject.runtime.bean"])
    tracer.setTraceLevel("", level: .low)
    tracer.trace("other", level: .low, message: "3")
    #expect(log.messages == ["1", "2", "3"])
  }

  @Test func offIsNoLevelOfATrace() {
    tracer.setTraceLevel("", level: .full)
    #expect(!tracer.isEnabled("", level: .off))
  }

  @Test func theDestinationMayBeReplaced() {
    let other = MemoryLog()
    tracer.setTraceLevel("", level: .full)
    tracer.trace("a", level: .low, message: "1")
    tracer.setDestination(other)
    #expect(log.flushes == 1)
    tracer.trace("a", level: .low, message: "2")
    tracer.flush()
    #expect(log.messages == ["1"])
    #expect(other.messages == ["2"])
    #expect(other.flushes == 1)
  }

  @Test func aTracerIsUsedByManyThreads() {
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      tracer.setTraceLevel("t\(thread)", level: .high)
      for number in 0..<200 { tracer.trace("t\(thread)", level: .high, message: "\(number)") }
    }
    #expect(log.entries.count == 800)
  }

  /// Runs in a process of its own, and reads its output.
  @Test func theTracerOfTheProcessWritesToStandardError() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Tracer.trace("inject", level: .low, message: "unheard")
      Tracer.setTraceLevel("inject", level: .low)
      Tracer.trace("inject.runtime", level: .low, message: "heard")
      Tracer.trace("inject.runtime", level: .medium, message: "unheard")
      LogManager.flush()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d) \[inject\.runtime\]: heard\n/))
    #expect(!text.contains("unheard"))
  }
}
