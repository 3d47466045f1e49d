import Beans
import BeansLogging
import BeansRunning
import Dispatch
import Glibc
import TestSupport
import Testing

@Suite("Running until a signal arrives", .timeLimit(.minutes(20))) struct RunUntilSignalSpecification {
  @Test("A signal ends the runs and then the environment, in order", arguments: [SIGTERM, SIGINT])
  func order(signal: Int32) async {
    await #expect(processExitsWith: .success) { [signal] in
      let (shop, journal) = (try Environment(name: "shop"), Journal())
      try shop.define(Pool.self, factory: { Pool(journal) }).define(
        Consumer.self, factory: { (pool: Pool) in Consumer(pool, journal) })
      let run = Task { try await shop.run(until: [.terminate, .interrupt]) }
      await (try shop.getBean(awaiting: Consumer.self)).begun.arrivals(1)
      kill(getpid(), signal)
      try await run.value
      #expect(journal.entries == ["pool opened", "run", "run ended", "pool closed"])
    }
  }

  @Test("A signal during a start that hangs ends what has begun, within the limit")
  func duringTheStart() async {
    await #expect(processExitsWith: .success) {
      let (shop, journal, started) = (try Environment(name: "shop"), Journal(), AsyncGate())
      try shop.define(Pool.self, factory: { Pool(journal) })
        .define(
          shop.bean(
            Slow.self,
            async: { (_: Pool) in
              started.arrive()
              try await Task.sleep(for: .seconds(3_600))
              return Slow()
            }))
      let run = Task { try await shop.run(until: [.terminate]) }
      await started.arrivals(1)
      kill(getpid(), SIGTERM)
      try await run.value
      #expect(journal.entries == ["pool opened", "pool closed"])
    }
  }

  @Test("The second signal has its former effect, while the end of the first one hangs")
  func secondSignal() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let (shop, gate) = (try Environment(name: "shop"), AsyncGate())
      try shop.define(Slow.self, factory: Slow.init) { $0.onDestroy { _ in await gate.pass() } }
      let run = Task { try await shop.run(until: [.terminate], shutdownLimit: nil) }
      _ = try await shop.getBean(awaiting: Slow.self)
      kill(getpid(), SIGTERM)
      await gate.arrivals(1)
      kill(getpid(), SIGTERM)
      try await run.value
    }
  }

  @Test("The signals have their former effects after the end")
  func formerEffects() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let shop = try Environment(name: "shop")
      shop.stop()
      try await shop.run(until: [.terminate])
      kill(getpid(), SIGTERM)
      // The signal ends the process; without its effect, the test fails after this.
      try await Task.sleep(for: .seconds(60))
    }
  }

  @Test("A failed run ends the environment without a signal, and is thrown")
  func failedRun() async {
    await #expect(processExitsWith: .success) {
      let shop = try Environment(name: "shop")
      try shop.define(Failing.self, factory: Failing.init)
      let fault = await #expect(throws: EnvironmentError.self) { try await shop.run(until: [.terminate]) }
      #expect(fault?.code == .runFailed)
      #expect(shop.isReleased)
    }
  }

  // MARK: a stop before or beside the start

  @Test("stop() before run() is in the log, and nothing is created")
  func stopBefore() async {
    await #expect(processExitsWith: .success) {
      let (lines, journal) = (Self.log(), Journal())
      let shop = try Environment(name: "shop")
      try shop.define(Pool.self, factory: { Pool(journal) })
      shop.stop()
      try await shop.run()
      #expect(journal.entries.isEmpty)
      #expect(lines.all.contains("INFO 'shop' does not run: stop() was called before run()"), "\(lines.all)")
    }
  }

  @Test("stop() during the start is in the log")
  func stopBeside() async {
    await #expect(processExitsWith: .success) {
      let (lines, started) = (Self.log(), AsyncGate())
      let shop = try Environment(name: "shop")
      try shop.define(
        shop.bean(
          Slow.self,
          async: {
            started.arrive()
            try await Task.sleep(for: .seconds(3_600))
            return Slow()
          }))
      let run = Task { try await shop.run() }
      await started.arrivals(1)
      shop.stop()
      try await run.value
      #expect(lines.all.contains("INFO 'shop' ends during its start: stop() was called"), "\(lines.all)")
    }
  }

  private static func log() -> Lines {
    let lines = Lines(name: "lines", formatter: .level() + " " + .message())
    let manager = LogManager()
    manager.registerLogger("", level: .info, logs: [lines])
    manager.install()
    return lines
  }

  // MARK: beans that nothing runs

  @Test("The report names the beans that run, until a call runs them")
  func idleRuns() async throws {
    let (shop, journal) = (try Environment(name: "shop"), Journal())
    try shop.define(Pool.self, factory: { Pool(journal) }).define(
      Consumer.self, factory: { (pool: Pool) in Consumer(pool, journal) })
    try shop.startup()
    let line = "not running, since neither run() nor a ServerLifecycle has been called:\n- Consumer\n"
    #expect(shop.report().contains(line), "\(shop.report())")
    let run = Task { try await shop.run() }
    await (try shop.getBean(Consumer.self)).begun.arrivals(1)
    #expect(!shop.report().contains("not running"))
    shop.stop()
    try await run.value
  }

  // MARK: an environment for a closure

  @Test("withEnvironment makes ready, runs its body, and shuts down, awaiting the releases")
  func withEnvironmentCompletes() async throws {
    let journal = Journal()
    let number = try await withEnvironment("shop", declare: { try Self.declare(in: $0, journal) }) { shop in
      #expect(shop.name == "shop")
      _ = try shop.getBean(Slow.self)
      return 7
    }
    #expect(number == 7)
    #expect(journal.entries == ["created", "completed"])
  }

  @Test("A body of withEnvironment that throws fails the environment, and its error is thrown")
  func withEnvironmentFails() async throws {
    let journal = Journal()
    await #expect(throws: CancellationError.self) {
      try await withEnvironment(declare: { try Self.declare(in: $0, journal) }) { _ in throw CancellationError() }
    }
    #expect(journal.entries == ["created", "failed"])
  }

  @Test("withEnvironment throws the faults of its declarations with the place of the call")
  func withEnvironmentFaults() async throws {
    let fault = await #expect(throws: EnvironmentError.self) {
      try await withEnvironment(declare: {
        try $0.define(Consumer.self, factory: { (pool: Pool) in Consumer(pool, Journal()) })
      }) { _ in }
    }
    #expect(fault?.code == .unknownBean)
  }

  private static func declare(in shop: Environment, _ journal: Journal) throws {
    try shop.define(
      shop.bean(
        Slow.self,
        async: {
          await Task.yield()
          journal.note("created")
          return Slow()
        }
      )
      .onDestroy { _, outcome in
        await Task.yield()
        if case .failed = outcome { journal.note("failed") } else { journal.note("completed") }
      })
  }

  // MARK: the first failure of ready()

  @Test("ready() fails at once where a synchronous bean throws, and cancels a creation that hangs")
  func failureBesideAHangingCreation() async throws {
    struct Boom: Error {}
    let (shop, cancelled) = (try Environment(name: "shop"), AsyncGate())
    try shop.define(
      shop.bean(
        Slow.self,
        async: {
          do { try await Task.sleep(for: .seconds(3_600)) } catch {
            cancelled.arrive()
            throw error
          }
          return Slow()
        })
    )
    .define(shop.bean(Known.self, async: { Known() }))
    .define(shop.bean(Failing.self, factory: { (_: Known) throws -> Failing in throw Boom() }))
    let fault = await #expect(throws: EnvironmentError.self) { try await shop.ready() }
    #expect(fault?.cause(as: Boom.self) != nil)
    await cancelled.arrivals(1)
    try? await shop.shutdown()
  }

  @Test("ready() builds a synchronous bean as soon as what it takes is there")
  func builtEarly() async throws {
    let (shop, built, gate) = (try Environment(name: "shop"), AsyncGate(), AsyncGate())
    try shop.define(shop.bean(Slow.self, async: { await gate.passing(Slow()) }))
      .define(shop.bean(Known.self, async: { Known() }))
      .define(
        Failing.self,
        factory: { (_: Known) in
          built.arrive()
          return Failing()
        })
    let ready = Task { try await shop.ready() }
    await built.arrivals(1)
    gate.open()
    _ = try await ready.value
    try await shop.shutdown()
  }
}

private final class Slow: Sendable {}
private final class Known: Sendable {}

private final class Pool: Sendable, DisposableBean {
  private let journal: Journal
  init(_ journal: Journal) {
    self.journal = journal
    journal.note("pool opened")
  }
  func preDestroy() { journal.note("pool closed") }
}

private final class Consumer: RunnableBean, Sendable {
  private let journal: Journal
  let begun = AsyncGate()
  init(_ pool: Pool, _ journal: Journal) { self.journal = journal }

  func run() async throws {
    journal.note("run")
    defer { journal.note("run ended") }
    begun.arrive()
    try await Task.sleep(for: .seconds(3_600))
  }
}

private final class Failing: RunnableBean, Sendable {
  struct Boom: Error {}
  func run() async throws { throw Boom() }
}
