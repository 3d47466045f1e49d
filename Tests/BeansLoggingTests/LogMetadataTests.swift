@testable import BeansLogging
import Testing

@Suite struct LogMetadataTests {
  private let log = MemoryLog()
  private let logger: Logger

  init() {
    logger = LogManager(installing: false).registerLogger("", level: .info, logs: [log]).getLogger(forName: "a")
  }

  @Test func keysKeepTheirOrderAndTheirLastValue() {
    var metadata: LogMetadata = ["b": "1", "a": "2", "b": "3"]
    #expect(metadata == ["b": "3", "a": "2"])
    #expect(metadata != ["a": "2", "b": "3"])
    metadata["c"] = "4"
    metadata["b"] = "5"
    #expect(metadata.map { "\($0.key)=\($0.value)" } == ["b=5", "a=2", "c=4"])
    metadata["a"] = nil
    metadata["none"] = nil
    #expect(metadata == ["b": "5", "c": "4"])
    #expect(metadata["c"] == "4" && metadata["a"] == nil)
    #expect(metadata.merging(["c": "6", "d": "7"]) == ["b": "5", "c": "6", "d": "7"])
    #expect(LogMetadata().merging(metadata) == metadata)
    #expect(LogMetadata().isEmpty && metadata.count == 2 && metadata[1].key == "c")
  }

  @Test func everyEntryInsideHasTheMetadataOfTheTask() {
    logger.info("before")
    LogMetadata.with(["request": "17"]) {
      logger.info("inside")
      LogMetadata.with(["request": "18", "order": "3"]) { logger.info("further inside") }
      logger.info("inside again")
    }
    logger.info("after")
    #expect(
      log.entries.map(\.metadata) == [
        [:], ["request": "17"], ["request": "18", "order": "3"], ["request": "17"], [:],
      ])
  }

  @Test func childTasksHaveTheMetadata() async {
    await LogMetadata.with(["request": "17"]) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { logger.info("child") } }
      }
      await Task { logger.info("task") }.value
    }
    await Task.detached { logger.info("detached") }.value
    #expect(log.entries.map(\.metadata) == Array(repeating: ["request": "17"], count: 4) + [[:]])
  }

  @Test func anEntryHasMetadataOfItsOwn() {
    LogMetadata.with(["request": "17"]) {
      logger.info("placed", metadata: ["order": "3"])
      logger.error(Boom(), message: "not placed", metadata: ["request": "own"])
      logger.log(.warn, message: "late", metadata: ["order": "4"])
    }
    #expect(
      log.entries.map(\.metadata) == [
        ["request": "17", "order": "3"], ["request": "own"], ["request": "17", "order": "4"],
      ])
  }

  @Test func metadataOfAnEntryThatIsNotWrittenIsNotBuilt() {
    var built = 0
    func metadata() -> LogMetadata {
      built += 1
      return ["a": "b"]
    }
    logger.debug("1", metadata: metadata())
    logger.log(.debug, error: Boom(), message: "1", metadata: metadata())
    #expect(built == 0)
    logger.info("2", metadata: metadata())
    logger.warn("2", metadata: metadata())
    logger.error("2", metadata: metadata())
    logger.fatal("2", metadata: metadata())
    logger.fatal(message: "2", metadata: metadata())
    #expect(built == 5)
    #expect(log.entries.allSatisfy { $0.metadata == ["a": "b"] } && log.entries.count == 5)
  }

  @Test func tracesHaveTheMetadataOfTheTask() {
    let tracer = Tracer(destination: log)
    tracer.setTraceLevel("a", level: .high)
    LogMetadata.with(["request": "17"]) { tracer.trace("a", level: .low, message: "step") }
    #expect(log.entries.map(\.metadata) == [["request": "17"]])
    #expect(log.entries.map { Tracer.format.format($0) }.allSatisfy { $0.hasSuffix(" [a] {request=17}: step") })
  }

  @Test func theErrorOfTheBodyIsThrown() async {
    #expect(throws: Boom.self) { try LogMetadata.with(["a": "b"]) { throw Boom() } }
    await #expect(throws: Boom.self) {
      try await LogMetadata.with(["a": "b"]) {
        await Task.yield()
        throw Boom()
      }
    }
  }

  @Test func aSourceContributesBeforeTheTaskAndIsNotAskedForItsOwnEntries() async {
    await #expect(processExitsWith: .success) {
      let log = MemoryLog()
      let logger = LogManager(installing: false).registerLogger("", level: .info, logs: [log]).getLogger(forName: "a")
      LogMetadata.setSource {
        logger.info("from the source")
        return ["environment": "request", "key": "outer"]
      }
      LogMetadata.with(["key": "inner"]) { logger.info("1") }
      #expect(log.messages == ["from the source", "1"])
      #expect(log.entries.map(\.metadata) == [["key": "inner"], ["environment": "request", "key": "inner"]])
    }
  }

  /// A closure that is the value of a generic lock is wrapped anew with each access, where the compiler does not
  /// specialise the lock.
  @Test(.timeLimit(.minutes(20))) func theSourceCostsTheSameAfterManyEntries() async {
    await #expect(processExitsWith: .success) {
      LogMetadata.setSource { ["environment": "request"] }
      for _ in 0..<400_000 { #expect(LogMetadata.current == ["environment": "request"]) }
    }
  }
}
