import Beans
import BeansLogging
import TestSupport
import Testing

@Suite("Log entries carry the metadata of the environment", .timeLimit(.minutes(20)))
struct LogMetadataSpecification {
  private let lines = Lines(
    name: "lines", formatter: LogFormatter.message() + LogFormatter.metadata(prefix: " {", suffix: "}"))
  private let logger: Logger
  private let application: Environment
  private let sessions: EnvironmentFactory<String>
  private let requests: EnvironmentFactory<Int>

  private final class Handler: Sendable {}

  init() throws {
    let logger = LogManager(installing: false).registerLogger("", level: .info, logs: [lines]).getLogger(forName: "a")
    self.logger = logger
    application = try Environment(name: "application")
    sessions = try application.childFactory("session", seed: String.self)
      .logMetadata { ["user": $0] }
    requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Handler.self) {
          logger.info("created")
          return Handler()
        }.onDestroy { _ in logger.info("released") })
    }
    try requests.logMetadata { ["request": "\($0)"] }
  }

  @Test("All lines of a request carry its id and those of the environments around it")
  func allLines() throws {
    defer { try? application.shutdown() }
    logger.info("before")
    try sessions.withChild("ada") { session in
      logger.info("in the session")
      try requests.withChild(17, in: session) { request in
        logger.info("in the request")
        _ = try request.getBean(Handler.self)
        LogMetadata.with(["order": "3", "user": "as ada"]) { logger.info("with an order") }
      }
      logger.info("after the request")
    }
    logger.info("after")
    #expect(
      lines.all == [
        "before", "in the session {user=ada}", "in the request {user=ada request=17}",
        "created {user=ada request=17}", #"with an order {user="as ada" request=17 order=3}"#,
        "released {user=ada request=17}", "after the request {user=ada}", "after",
      ])
  }

  @Test("Child tasks of a request carry its id, and so do asynchronous calls")
  func childTasks() async throws {
    try await sessions.withChild("ada") { session in
      try await requests.withChild(17, in: session) { request in
        await Task.yield()
        logger.info("1")
        async let child: Void = logger.info("2")
        await child
        _ = try request.getBean(Handler.self)
      }
    }
    try await application.shutdown()
    let tail = " {user=ada request=17}"
    #expect(lines.all == ["1\(tail)", "2\(tail)", "created\(tail)", "released\(tail)"])
  }

  @Test("A child that is not current adds its id only to entries of its beans")
  func notCurrent() throws {
    defer { try? application.shutdown() }
    let session = try sessions.build("ada")
    let request = try requests.build(17, in: session)
    logger.info("outside")
    _ = try request.getBean(Handler.self)
    request.finish()
    session.finish()
    #expect(lines.all == ["outside", "created {user=ada request=17}", "released {user=ada request=17}"])
  }

  @Test("Metadata is read only for an entry that is written")
  func notWritten() throws {
    let asked = Journal()
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let requests = try application.childFactory("request", seed: Int.self).logMetadata {
      asked.noting("\($0)", ["request": "\($0)"])
    }
    try requests.withChild(1) { _ in logger.debug("not written") }
    #expect(asked.entries == [])
    try requests.withChild(2) { _ in logger.info("written") }
    #expect(asked.entries == ["2"] && lines.all == ["written {request=2}"])
  }

  @Test("Several contributions add up, one without a seed included; an entry of a contribution has no metadata")
  func contributions() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let logger = logger
    let requests = try application.childFactory("request", seed: Void.self)
      .logMetadata { ["a": "1", "b": "1"] }
      .logMetadata {
        logger.info("asked")
        return ["b": "2"]
      }
    try requests.withChild(()) { _ in logger.info("1") }
    #expect(lines.all == ["asked", "1 {a=1 b=2}"])
  }

  @Test("A current child that ends contributes until it is released")
  func ended() async throws {
    let logger = logger
    let gate = AsyncGate()
    let task = try await sessions.withChild("ada") { session in
      session.finish()
      logger.info("ends")
      return Task {
        await gate.pass()
        logger.info("late")
      }
    }
    gate.open()
    await task.value
    #expect(lines.all == ["ends {user=ada}", "late"])
    try await application.shutdown()
  }

  @Test("The value of a request is released at its end, even if its entries carry its id")
  func seedIsReleased() throws {
    final class Request: Sendable {}
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    let requests = try application.childFactory("request", seed: Request.self).logMetadata { _ in ["request": "1"] }
    weak var released: Request?
    let child: Environment
    do {
      let request = Request()
      released = request
      child = try requests.build(request)
    }
    #expect(released != nil)
    child.finish()
    #expect(released == nil)
  }

  @Test("A contribution after the start of the environment is refused")
  func frozen() throws {
    defer { try? application.shutdown() }
    try application.startup()
    try requireFault(.frozen) { try requests.logMetadata { _ in [:] } }
  }

  @Test("Threads may write entries of a request while it ends")
  func whileItEnds() async throws {
    let (application, logger) = (application, logger)
    for number in 0..<200 {
      let session = try sessions.build("ada")
      let request = try requests.build(number, in: session)
      _ = try request.getBean(Handler.self)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask { Environment.$current.withValue(request) { for _ in 0..<20 { logger.info("x") } } }
        }
        group.addTask { request.finish() }
      }
      session.finish()
    }
    try await application.shutdown()
    #expect(lines.all.allSatisfy { $0 == "x" || $0.contains("{user=ada") })
  }
}
