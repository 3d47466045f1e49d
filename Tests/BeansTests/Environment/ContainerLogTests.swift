import TestSupport
import BeansLogging
import Testing

@testable import Beans

/// With a manager and a tracer of their own, so that other tests neither hear nor pay for it.
@Suite struct ContainerLogTests {
  /// Keeps lines.
  private final class Lines: LogManager.Log, @unchecked Sendable {  // the journal is locked
    private let journal = Journal()
    var all: [String] { journal.entries }

    override func log(_ entry: LogEntry) { journal.note(format(entry)) }
  }

  private final class Pool {}
  private final class Handler: Bean {
    init(_ pool: Pool) {}
    func postConstruct() {}
  }
  private struct Boom: Error {}

  private let lines = Lines(name: "lines", formatter: .level() + " " + .message())
  private let traces = Lines(name: "traces", formatter: .logger() + ": " + .message())
  private let manager = LogManager(installing: false)
  private let tracer: Tracer

  init() { tracer = Tracer(destination: traces) }

  private func environment(_ level: Level, trace: Tracer.Level = .off) throws -> Environment {
    manager.registerLogger("Beans", level: level, logs: [lines])
    tracer.setTraceLevel("beans", level: trace)
    let environment = try Environment(name: "application")
    environment.plan.log = ContainerLog(manager, tracer)
    return environment
  }

  /// From the start to the end, with one request.
  private func run(_ environment: Environment) throws {
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

  @Test func debugTellsOfEnvironmentsAndBeans() throws {
    let environment = try environment(.debug)
    try run(environment)
    #expect(
      lines.all == [
        "DEBUG starting 'application'", "DEBUG created Pool 'pool' in 'application'", "DEBUG started 'application'",
        "DEBUG created Handler in 'request'", "DEBUG finished 'request': 1 beans released",
        "DEBUG finished 'application': 1 beans released",
      ])
    #expect(traces.all == [])
  }

  @Test func tracesTellOfTheSteps() throws {
    let environment = try environment(.off, trace: .high)
    try run(environment)
    #expect(
      traces.all == [
        "beans.loader: start 'application'",
        "beans.loader: 'application': 1 beans declared, 1 slots, 0 post processors, 1 factories",
        "beans.runtime: create Pool 'pool' in 'application'", "beans.loader: started 'application'",
        "beans.runtime: create Handler in 'request'", "beans.runtime: release Handler in 'request'",
        "beans.runtime: finished 'request': 1 beans released", "beans.runtime: release Pool 'pool' in 'application'",
        "beans.runtime: finished 'application': 1 beans released",
      ])
    #expect(lines.all == [])
  }

  @Test func fullTracesTellWhatNeedsWhat() throws {
    let environment = try environment(.off)
    tracer.setTraceLevel("beans.loader", level: .full)
    try run(environment)
    #expect(traces.all.contains("beans.loader: 'application': Pool 'pool' needs nothing"))
    #expect(!traces.all.contains { $0.hasPrefix("beans.runtime") })
  }

  @Test func failuresAreToldWithTheirCause() throws {
    let environment = try environment(.debug)
    try environment.define(environment.bean(Pool.self, factory: { () throws -> Pool in throw Boom() }))
    #expect(throws: EnvironmentError.self) { try environment.startup() }
    #expect(lines.all.first == "DEBUG starting 'application'")
    #expect(lines.all.contains { $0.hasPrefix("DEBUG Pool in 'application' was not created: ") && $0.contains("Boom") })
    #expect(lines.all.contains { $0.hasPrefix("DEBUG 'application' did not start: ") })
    #expect(!lines.all.contains("DEBUG started 'application'"))
  }

  @Test func aFailedReleaseIsAnErrorInTheLog() throws {
    let environment = try environment(.warn)
    try environment.define(environment.bean(7).onDestroy { _ in throw Boom() }).startup()
    #expect(throws: EnvironmentError.self) { try environment.shutdown() as Void }
    #expect(lines.all.count == 1)
    #expect(lines.all.first?.hasPrefix("ERROR 'application': ") == true)
  }

  /// Single beans are decided upon at startup: plans know nothing of logging otherwise.
  @Test func plainBeansStayPlainUnlessTheyAreFollowed() throws {
    for level in [Level.off, .info, .debug] {
      let environment = try environment(level)
      try environment.define(environment.bean(Pool.self, factory: { Pool() }))
        .define(environment.bean(Handler.self, factory: Handler.init)).startup()
      let settled = environment.plan.slotRecipes.compactMap(\.flat)
      #expect(settled.map { $0.pointee.care } == (level == .debug ? [.followed, .followed] : [.plain, .full]))
      #expect(settled.map { $0.pointee.ending } == (level == .debug ? [.full, .full] : [.quiet, .quiet]))
      try environment.shutdown() as Void
    }
  }

  @Test func levelsChangedLaterConcernEnvironmentsButNoBeans() throws {
    let environment = try environment(.info)
    try environment.define(environment.bean(Pool.self, factory: { Pool() }).lazy()).startup()
    manager.registerLogger("Beans", level: .debug, logs: [lines])
    _ = try environment.getBean(Pool.self)
    try environment.shutdown() as Void
    #expect(lines.all == ["DEBUG finished 'application': 1 beans released"])
  }

  @Test func plainChildrenSpeakWhereTheirParentDoes() throws {
    let parent = try environment(.debug)
    let child = try Environment(name: "child", parent: parent)
    try child.startup()
    try parent.shutdown() as Void
    #expect(
      lines.all == [
        "DEBUG starting 'application'", "DEBUG started 'application'", "DEBUG starting 'child'",
        "DEBUG started 'child'",
        "INFO 'application' finishes 1 environments below it that were still open",
        "DEBUG finished 'child': 0 beans released", "DEBUG finished 'application': 0 beans released",
      ])
  }

  @Test func withoutAManagerOfItsOwnAnEnvironmentSpeaksToThatOfTheProcess() throws {
    let environment = try Environment()
    #expect(environment.plan.log.logger === LogManager.getLogger(forName: "Beans.Environment"))
    #expect(environment.plan.log.tracer === Tracer.shared)
  }
}
