import Beans
import BeansRunning
import BeansTesting
import TestSupport
import Testing

private struct Broken: Error {}

/// A bean with a release.
private final class Cache: DisposableBean, Sendable {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() { journal.note("release") }
}

@Suite("Schedules", .timeLimit(.minutes(20)))
struct ScheduleSpecification {
  private let journal = Journal()
  private let clock = ManualClock()

  private func environment(_ clock: ManualClock? = nil, _ declare: (Environment) throws -> Void) throws -> Environment {
    let environment = try Environment(name: "shop")
    try environment.useClock(clock ?? self.clock).define(environment.bean(journal))
    try declare(environment)
    return try environment.startup()
  }

  /// Advances the clock when a task sleeps, and waits until it sleeps again.
  private func advance(_ clock: ManualClock, by duration: Duration) async throws {
    try await clock.waitForSleepers()
    clock.advance(by: duration)
    try await clock.waitForSleepers()
  }

  @Test("A closure is called with the bean after each interval, from its creation to its release")
  func interval() async throws {
    let environment = try environment {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(60)) { [clock] cache in
          cache.journal.note("call at \(clock.now.offset), in \(Environment.current?.name ?? "none")")
        })
    }
    try await advance(clock, by: .seconds(59))
    #expect(journal.entries == [])
    try await advance(clock, by: .seconds(1))
    try await advance(clock, by: .seconds(60))
    // Several elapsed intervals cause one call.
    try await advance(clock, by: .seconds(600))
    let expected = [60, 120, 720].map { "call at \(Duration.seconds($0)), in shop" }
    #expect(journal.entries == expected)
    try await environment.shutdown()
    #expect(journal.entries == expected + ["release"])
    #expect(clock.sleeperCount == 0)
  }

  @Test("A call in flight delays the next one; the release cancels it and waits for its end")
  func callInFlight() async throws {
    let gate = AsyncGate()
    let environment = try environment {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(1)) { cache in
          gate.arrive()
          cache.journal.note("call")
          await Latch().wait()
          cache.journal.note("end of the call, cancelled: \(Task.isCancelled)")
        })
    }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await gate.arrivals(1)
    clock.advance(by: .seconds(100))
    #expect(clock.sleeperCount == 0)
    try await environment.shutdown()
    #expect(journal.entries == ["call", "end of the call, cancelled: true", "release"])
  }

  @Test(
    "A synchronous shutdown between two calls has nothing to wait for; during a call it names the bean, which a task releases"
  )
  func synchronousShutdown() async throws {
    func shutDown(_ environment: Environment) throws { try environment.shutdown() }
    let gate = AsyncGate()
    func declare(_ environment: Environment) throws {
      try environment.define(
        environment.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(1)) { _ in await gate.pass() })
    }
    try shutDown(try environment { try declare($0) })
    let busy = try environment { try declare($0) }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await gate.arrivals(1)
    let fault = try requireFault(.destructionFailed) { try shutDown(busy) }
    #expect(fault.message.hasPrefix("Cache still works, and has been cancelled"))
    #expect(journal.entries == ["release"])
    gate.open()
    while journal.entries.count < 2 { await Task.yield() }
    #expect(journal.entries == ["release", "release"])
  }

  @Test("A call that fails ends nothing, and the next one follows")
  func failure() async throws {
    let environment = try environment {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(1)) { cache in
          cache.journal.note("call")
          throw Broken()
        })
    }
    try await advance(clock, by: .seconds(1))
    try await advance(clock, by: .seconds(1))
    try await environment.shutdown()
    #expect(journal.entries == ["call", "call", "release"])
  }

  @Test("A call that fails after its cancellation is a failure of the release")
  func lateFailure() async throws {
    let gate = AsyncGate()
    let environment = try environment {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(1)) { _ in
          gate.arrive()
          await Latch().wait()
          throw Broken()
        })
    }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await gate.arrivals(1)
    let fault = try await #require(throws: EnvironmentError.self) { try await environment.shutdown() }
    #expect(fault.code == .destructionFailed)
    #expect(fault.path == ["Cache"])
    #expect(fault.underlying.first is Broken)
  }

  @Test("Cron expressions follow the wall clock of the environment's clock")
  func cron() async throws {
    // Thursday, January 1, 1970, 23:58:30.
    let clock = ManualClock(timeSinceEpoch: .seconds(86_310))
    let environment = try environment(clock) {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init)
          .scheduled(at: "*/2 * * * fri") { $0.journal.note("Friday at \(clock.timeSinceEpoch)") }
          .scheduled(at: "59 0 * * *", in: ScheduleZone { _ in .seconds(3_600) }) {
            $0.journal.note("0:59 at \(clock.timeSinceEpoch)")
          })
    }
    try await clock.waitForSleepers(2)
    #expect(clock.deadlines.map(\.offset) == [.seconds(30), .seconds(90)])
    clock.advance(by: .seconds(30))
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(60))
    try await clock.waitForSleepers(2)
    // The next call is due at 00:02; this skips it and the one at 00:04.
    clock.advance(by: .seconds(250))
    try await clock.waitForSleepers(2)
    try await environment.shutdown()
    let times = ["0:59 at \(Duration.seconds(86_340))", "Friday at \(Duration.seconds(86_400))"]
    #expect(journal.entries == times + ["Friday at \(Duration.seconds(86_650))", "release"])
  }

  @Test("advanceStepwise(by:) makes every call of a longer time")
  func stepwise() async throws {
    let environment = try environment {
      try $0.define(
        $0.bean(Cache.self, factory: Cache.init)
          .scheduled(every: .seconds(60)) { [clock] in $0.journal.note("minute \(clock.now.offset)") }
          .scheduled(every: .seconds(90)) { [clock] in $0.journal.note("other \(clock.now.offset)") })
    }
    try await clock.waitForSleepers(2)
    try await clock.advanceStepwise(by: .seconds(190))
    let expected = [("minute", 60), ("other", 90), ("minute", 120)].map { "\($0) \(Duration.seconds($1))" }
    #expect(journal.entries.prefix(3) == expected[...])
    #expect(Set(journal.entries.suffix(2)) == Set(["minute", "other"].map { "\($0) \(Duration.seconds(180))" }))
    #expect(clock.now.offset == .seconds(190))
    try await environment.shutdown()
  }

  @Test("The beans of a child have their own schedule, which ends with the child")
  func child() async throws {
    let environment = try Environment(name: "shop")
    try environment.useClock(clock)
    let sessions = try environment.childFactory("session", seed: Int.self) { [journal] child in
      try child.define(
        child.bean(Cache.self, factory: { Cache(journal) })
          .scheduled(every: .seconds(1)) { $0.journal.note("call") })
    }
    try environment.startup()
    try await sessions.withChild(1) { child in
      _ = try child.getBean(Cache.self)
      try await advance(clock, by: .seconds(1))
    }
    #expect(journal.entries == ["call", "release"])
    #expect(clock.sleeperCount == 0)
    try await environment.shutdown()
  }

  @Test("An environment that is dropped without a shutdown ends its schedules")
  func dropped() async throws {
    weak var bean: Cache?
    do {
      let environment = try environment {
        try $0.define($0.bean(Cache.self, factory: Cache.init).scheduled(every: .seconds(1)) { _ in })
      }
      try await clock.waitForSleepers()
      bean = try environment.getBean(Cache.self)
    }
    while clock.sleeperCount > 0 { await Task.yield() }
    #expect(bean == nil)
  }

  @Test("A schedule that is malformed, or that no environment could end, is a fault of startup that reports this")
  func malformed() throws {
    let environment = try Environment(name: "shop")
    func define(_ id: String, _ change: (TypedBeanDeclaration<Cache>) -> TypedBeanDeclaration<Cache>) throws {
      try environment.define(change(environment.bean(Cache.self, id: id, factory: { [journal] in Cache(journal) })))
    }
    try define("a") { $0.scheduled(every: .zero) { _ in } }
    try define("b") { $0.scheduled(at: "* * * *") { _ in } }
    try define("c") { $0.scheduled(at: "* * * * mon-fry") { _ in } }
    try define("d") { $0.scheduled(at: "0 0 30 feb *") { _ in } }
    try define("e") { $0.restarts(after: .zero, upTo: .seconds(1), limit: 3) }
    try define("f") { $0.scheduled(every: .seconds(1)) { _ in }.scope("prototype") }
    let found = faults(of: environment)
    #expect(found.allSatisfy { $0.code == .invalidDeclaration && $0.origin != nil })
    #expect(
      found.map(\.message).sorted() == [
        "Cache 'f' has a schedule, but the container keeps no instance of it",
        "restarts(after:upTo:limit:) needs delays above zero, the second one not below the first, and no negative limit, "
          + "and has 0.0 seconds, 1.0 seconds and 3",
        "scheduled(every:) needs an interval above zero, and has 0.0 seconds",
        "the schedule '* * * * mon-fry': day of the week: 'fry' is no number and no name",
        "the schedule '* * * *': it has 4 fields instead of five: minute, hour, day of the month, month, day of the week",
        "the schedule '0 0 30 feb *': it is never due: no month that it names has such a day",
      ])
  }

  @Test("A clock has to be set before startup")
  func lateClock() throws {
    let environment = try environment { _ in }
    try requireFault(.frozen) { try environment.useClock(clock) }
  }
}
