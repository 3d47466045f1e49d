import Beans
import BeansLogging
import Testing

/// Each test runs in a process of its own, with its own log manager and tracer.
@Suite("Log entries of the container", .timeLimit(.minutes(20)))
struct ContainerLogSpecification {
  @Test("The log names environments and beans at debug")
  func debugEntriesNameEnvironmentsAndBeans() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.debug)
      try log.run(environment)
      #expect(
        log.lines.all == [
          "DEBUG starting 'application'", "DEBUG created Pool 'pool' in 'application'", "DEBUG started 'application'",
          "DEBUG created Handler in 'request'", "DEBUG finished 'request': 1 beans released",
          "DEBUG finished 'application': 1 beans released",
        ])
      #expect(log.traces.all == [])
    }
  }

  @Test("Traces name the steps")
  func tracesNameTheSteps() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.off, trace: .high)
      try log.run(environment)
      #expect(
        log.traces.all == [
          "beans.loader: start 'application'",
          "beans.loader: 'application': 2 beans declared, 2 slots, 0 post processors, 1 factories",
          "beans.runtime: create Pool 'pool' in 'application'", "beans.loader: started 'application'",
          "beans.runtime: create Handler in 'request'", "beans.runtime: release Handler in 'request'",
          "beans.runtime: finished 'request': 1 beans released", "beans.runtime: release Pool 'pool' in 'application'",
          "beans.runtime: finished 'application': 1 beans released",
        ])
      #expect(log.lines.all == [])
    }
  }

  @Test("Full traces name the dependencies of each bean")
  func fullTracesNameDependencies() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.off)
      Tracer.setTraceLevel("beans.loader", level: .full)
      try log.run(environment)
      #expect(log.traces.all.contains("beans.loader: 'application': Pool 'pool' needs nothing"))
      #expect(!log.traces.all.contains { $0.hasPrefix("beans.runtime") })
    }
  }

  @Test("Failures are logged with their cause")
  func failuresAreLoggedWithTheirCause() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.debug)
      try environment.define(environment.bean(Pool.self, factory: { () throws -> Pool in throw Boom() }))
      #expect(throws: EnvironmentError.self) { try environment.startup() }
      #expect(log.lines.all.first == "DEBUG starting 'application'")
      #expect(
        log.lines.all.contains { $0.hasPrefix("DEBUG Pool in 'application' was not created: ") && $0.contains("Boom") })
      #expect(log.lines.all.contains { $0.hasPrefix("DEBUG 'application' did not start: ") })
      #expect(!log.lines.all.contains("DEBUG started 'application'"))
    }
  }

  @Test("A failed release is an error in the log")
  func aFailedReleaseIsAnErrorInTheLog() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.warn)
      try environment.define(environment.bean(7).onDestroy { _ in throw Boom() }).startup()
      #expect(throws: EnvironmentError.self) { try environment.shutdown() as Void }
      #expect(log.lines.all.count == 1)
      #expect(log.lines.all.first?.hasPrefix("ERROR 'application': ") == true)
    }
  }

  @Test("A level changed after startup affects environments, but no beans")
  func levelsChangedLaterConcernEnvironmentsButNoBeans() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let environment = try log.environment(.info)
      try environment.define(environment.bean(Pool.self, factory: { Pool() }).lazy()).startup()
      log.manager.registerLogger("Beans", level: .debug, logs: [log.lines])
      _ = try environment.getBean(Pool.self)
      try environment.shutdown() as Void
      #expect(log.lines.all == ["DEBUG finished 'application': 1 beans released"])
    }
  }

  @Test("A plain child uses the logger of its parent")
  func plainChildrenUseTheLoggerOfTheirParent() async {
    await #expect(processExitsWith: .success) {
      let log = Recording()
      let parent = try log.environment(.debug)
      let child = try Environment(name: "child", parent: parent, file: "Shop.swift", line: 7)
      try child.startup()
      try parent.shutdown() as Void
      #expect(
        log.lines.all == [
          "DEBUG starting 'application'", "DEBUG started 'application'", "DEBUG starting 'child'",
          "DEBUG started 'child'",
          "INFO 'application' finishes the environments below it that are still open: 1 opened at Shop.swift:7",
          "DEBUG finished 'child': 0 beans released", "DEBUG finished 'application': 0 beans released",
        ])
    }
  }

  @Test("The line of a release that fails has the metadata of its request")
  func failedRelease() async {
    await #expect(processExitsWith: .success) {
      struct Conflict: Error {}
      let lines = Lines(name: "lines", formatter: .message() + LogFormatter.metadata(prefix: " {", suffix: "}"))
      LogManager().registerLogger("Beans", level: .error, logs: [lines])
      let application = try Environment(name: "application")
      let requests = try application.childFactory("request", seed: Int.self) { request in
        try request.define(Pool.self, factory: { Pool() }) { pool in
          pool.onDestroy { (_: Pool) throws in throw Conflict() }
          pool.onDestroy { (_: Pool) async throws in throw Conflict() }
        }
        try request.define(Handler.self, factory: Handler.init) {
          $0.onDestroy { (_: Handler) throws in throw Conflict() }
        }
      }
      try requests.logMetadata { ["request": "\($0)"] }
      _ = try? await requests.withChild(17) { request async throws in
        _ = try (request.getBean(Pool.self), request.getBean(Handler.self))
      }
      try? await application.shutdown()
      #expect(lines.all.count == 2 && lines.all.allSatisfy { $0.hasSuffix(" {request=17}") }, "\(lines.all)")
    }
  }
}

private final class Pool: Sendable {}
private final class Handler: Bean {
  init(_ pool: Pool) {}
  func postConstruct() {}
}

/// Records the entries of the log and of the tracer in this process.
private struct Recording {
  let lines = Lines(name: "lines", formatter: .level() + " " + .message())
  let traces = Lines(name: "traces", formatter: .logger() + ": " + .message())
  let manager = LogManager()

  init() { Tracer.setDestination(traces) }

  func environment(_ level: Level, trace: Tracer.Level = .off) throws -> Environment {
    manager.registerLogger("Beans", level: level, logs: [lines])
    Tracer.setTraceLevel("beans", level: trace)
    return try Environment(name: "application")
  }

  /// Runs the environment from the start to the end, with one request.
  func run(_ environment: Environment) throws {
    try environment.define(environment.bean(Pool.self, id: "pool", factory: { Pool() }))
    let requests = try environment.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Handler.self, factory: Handler.init))
    }
    try environment.startup()
    let request = try requests.build(1)
    _ = try request.getBean(Handler.self)
    request.finish()
    try environment.shutdown() as Void
  }
}
