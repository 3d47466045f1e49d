import Beans
import BeansRunning
import BeansTesting
import TestSupport
import Testing

@Suite("Beans that run", .timeLimit(.minutes(20)))
struct RunningSpecification {
  private let journal = Journal()

  /// Returns a shop whose declarations are in reverse order.
  private func shop(_ declare: (Environment) throws -> Void = { _ in }) throws -> Environment {
    let shop = try Environment(name: "shop")
    try shop
      .define(shop.bean(Consumer.self, factory: Consumer.init))
      .define(shop.bean(Migrations.self, factory: Migrations.init))
      .define(shop.bean(Repository.self, factory: Repository.init))
      .define(shop.bean(Database.self, factory: Database.init))
      .define(shop.bean(journal))
    try declare(shop)
    return shop
  }

  private let begin = ["start database", "migrated", "start consumer"]
  private let end = ["end consumer", "end database"]

  /// Returns the bean once it runs.
  private func running<Bean: Worker>(_ type: Bean.Type, in environment: Environment) async throws -> Bean {
    let bean = try await environment.getBean(awaiting: type)
    await bean.started.arrivals(1)
    return bean
  }

  // MARK: order

  @Test("Each bean starts when those that it takes run, and ends before them")
  func order() async throws {
    let shop = try shop()
    async let run: Void = shop.run()
    _ = try await running(Consumer.self, in: shop)
    #expect(journal.entries == begin)
    shop.stop()
    try await run
    #expect(journal.entries == begin + ["end consumer", "end database", "release repository", "release database"])
    try requireFault(.finished) { try shop.getBean(Database.self) }
  }

  @Test("A cancellation ends the beans in the same order, not all at once")
  func cancellation() async throws {
    let shop = try shop()
    let run = Task { try await shop.run() }
    _ = try await running(Consumer.self, in: shop)
    run.cancel()
    try await run.value
    #expect(journal.entries == begin + ["end consumer", "end database", "release repository", "release database"])
  }

  @Test("A shutdown by another caller ends the beans in the same order, and run() returns")
  func shutdownByAnother() async throws {
    let shop = try shop()
    async let run: Void = shop.run()
    _ = try await running(Consumer.self, in: shop)
    try await shop.shutdown()
    try await run
    #expect(journal.entries == begin + ["end consumer", "end database", "release repository", "release database"])
  }

  @Test("A run refuses what its options refuse, before it builds a bean")
  func options() async throws {
    final class Shared { var value = 0 }
    func share(_ shop: Environment) throws { try shop.define(shop.bean(Shared.self, factory: { Shared() })) }
    let (one, other) = try (shop(share), shop(share))
    let faults = [
      await #expect(throws: EnvironmentError.self) { try await one.run(options: [.requireSendable]) },
      await #expect(throws: EnvironmentError.self) { try await other.run(until: [], options: [.requireSendable]) },
    ]
    for fault in faults { #expect(fault?.code == .invalidDeclaration && fault?.message.contains("Shared") == true) }
    #expect(journal.entries == [])
  }

  @Test("A bean that takes another starts when untilReady() of that one has returned")
  func readiness() async throws {
    final class Slow: Worker, @unchecked Sendable {
      let gate = AsyncGate()
      init(_ journal: Journal) { super.init("slow", journal) }
      override func untilReady() async throws {
        await gate.pass()
        journal.note("slow is ready")
      }
    }
    final class Taker: Worker, @unchecked Sendable {
      init(_ slow: Slow, _ journal: Journal) { super.init("taker", journal) }
    }
    final class Beside: Worker, @unchecked Sendable {
      init(_ slow: Provider<Slow>, _ journal: Journal) { super.init("beside", journal) }
    }
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(Slow.self, factory: Slow.init))
      .define(environment.bean(Taker.self, factory: Taker.init))
      .define(environment.bean(Beside.self, factory: Beside.init))
      .define(environment.bean(journal))
    async let run: Void = environment.run()
    let slow = try await running(Slow.self, in: environment)
    // A provider orders nothing.
    _ = try await running(Beside.self, in: environment)
    await slow.gate.arrivals(1)
    #expect(!journal.entries.contains("start taker"))
    slow.gate.open()
    _ = try await running(Taker.self, in: environment)
    #expect(journal.entries.suffix(2) == ["slow is ready", "start taker"])
    environment.stop()
    try await run
  }

  @Test("A run that returns ends no other one, and makes its bean ready")
  func returns() async throws {
    let shop = try shop()
    async let run: Void = shop.run()
    let consumer = try await running(Consumer.self, in: shop)
    consumer.complete()
    let database = try shop.getBean(Database.self)
    database.complete()
    while journal.entries.filter({ $0.hasPrefix("end") }).count < 2 { await Task.yield() }
    #expect(try shop.getBean(Repository.self).database === database)
    shop.stop()
    try await run
    #expect(journal.entries.suffix(2) == ["release repository", "release database"])
  }

  @Test("The environment is current while a bean runs, and the bean can begin its end")
  func current() async throws {
    final class Ending: RunnableBean, Sendable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      func run() async throws {
        journal.note("current: \(Environment.current?.name ?? "none")")
        // An awaited shutdown would wait for this run: the call only begins the end.
        try await Environment.current?.shutdown()
        journal.note("cancelled: \(Task.isCancelled)")
      }
    }
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Ending.self, factory: Ending.init)).define(environment.bean(journal))
    try await environment.run()
    #expect(journal.entries.first == "current: shop")
    #expect(journal.entries.count == 2)
  }

  // MARK: the end at every moment

  @Test("stop() before run() makes it end at once, and ends the environment")
  func stopBefore() async throws {
    let shop = try shop()
    shop.stop()
    shop.stop()
    try await shop.run()
    #expect(journal.entries == [])
    try requireFault(.finished) { try shop.getBean(Database.self) }
    await #expect(throws: EnvironmentError.self) { try await shop.run() }
  }

  @Test("A task that has been cancelled before runs nothing for longer than a moment")
  func cancelledBefore() async throws {
    let shop = try shop()
    let gate = AsyncGate()
    let run = Task {
      await gate.pass()
      try await shop.run()
    }
    run.cancel()
    gate.open()
    try await run.value
    #expect(!journal.entries.contains("start consumer"))
    #expect(shop.isReleased)
  }

  @Test("stop() during the start cancels the creations in flight", arguments: [false, true])
  func stopDuringStart(byCancelling: Bool) async throws {
    let gate = AsyncGate()
    let shop = try shop { [journal] in
      try $0.define(
        $0.bean(
          Int.self,
          async: {
            gate.arrive()
            await Latch().wait()
            journal.note("cancelled: \(Task.isCancelled)")
            return 1
          }))
    }
    let run = Task { try await shop.run() }
    await gate.arrivals(1)
    if byCancelling { run.cancel() } else { shop.stop() }
    try await run.value
    #expect(journal.entries.contains("cancelled: true"))
    #expect(
      journal.entries.filter { $0.hasPrefix("start") }.count == journal.entries.filter { $0.hasPrefix("end") }.count)
    #expect(shop.isReleased)
  }

  @Test("stop() and a cancellation during the end change nothing")
  func twice() async throws {
    final class Lingering: Worker, @unchecked Sendable {
      let ending = AsyncGate()
      init(_ journal: Journal) { super.init("lingering", journal) }
      override func run() async throws {
        try await super.run()
        await ending.pass()
        journal.note("over")
      }
    }
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Lingering.self, factory: Lingering.init)).define(environment.bean(journal))
    let run = Task { try await environment.run() }
    let bean = try await running(Lingering.self, in: environment)
    environment.stop()
    await bean.ending.arrivals(1)
    environment.stop()
    run.cancel()
    bean.ending.open()
    try await run.value
    #expect(journal.entries == ["start lingering", "end lingering", "over"])
  }

  /// Runs until the test releases it.
  private final class Stubborn: RunnableBean, Sendable {
    let gate = AsyncGate()
    init(_ database: Database) {}
    func run() async throws { await gate.pass() }
  }

  @Test("A bean that ignores its cancellation is abandoned and named, and the others end")
  func ignoresCancellation() async throws {
    let shop = try shop { try $0.define($0.bean(Stubborn.self, factory: Stubborn.init).releaseLimit(.milliseconds(1))) }
    let run = Task { try await shop.run() }
    _ = try await running(Consumer.self, in: shop)
    let stubborn = try shop.getBean(Stubborn.self)
    await stubborn.gate.arrivals(1)
    shop.stop()
    let fault = try await #require(throws: EnvironmentError.self) { try await run.value }
    #expect(fault.code == .destructionFailed)
    #expect(
      fault.message
        == "Stubborn in 'shop' has been abandoned: its work has been cancelled, and its release did not end within its "
        + "limit of 0.001 seconds")
    #expect(fault.path == ["Stubborn"])
    #expect(journal.entries.suffix(4) == ["end consumer", "end database", "release repository", "release database"])
    stubborn.gate.open()
  }

  @Test("run() returns when the limit of the end is over, and names the bean that still runs")
  func limit() async throws {
    let shop = try shop { try $0.define($0.bean(Stubborn.self, factory: Stubborn.init)) }
    let run = Task { try await shop.run(shutdownLimit: .milliseconds(10)) }
    _ = try await running(Consumer.self, in: shop)
    let stubborn = try shop.getBean(Stubborn.self)
    await stubborn.gate.arrivals(1)
    shop.stop()
    let fault = try await #require(throws: EnvironmentError.self) { try await run.value }
    #expect(fault.code == .destructionFailed)
    #expect("\(fault)".contains("Stubborn"))
    // The environment ends without it.
    while !shop.isReleased { await Task.yield() }
    stubborn.gate.open()
  }

  @Test("A synchronous shutdown cancels running beans, releases all, and names the ones that still run")
  func synchronousShutdown() async throws {
    let shop = try shop()
    async let run: Void = shop.run()
    let consumer = try await running(Consumer.self, in: shop)
    func shutDown() throws { try shop.shutdown() }
    let fault = try requireFault(.destructionFailed) { try shutDown() }
    #expect("\(fault)".contains("Consumer still works, and has been cancelled: a task releases it"))
    #expect("\(fault)".contains("Database still works"))
    consumer.complete()
    try await run
  }

  @Test("An end at any moment reaches everything that has begun, in order", arguments: 0..<100)
  func anyMoment(steps: Int) async throws {
    let shop = try shop()
    let run = Task { try await shop.run() }
    for _ in 0..<steps { await Task.yield() }
    switch steps % 3 {
    case 0: shop.stop()
    case 1: run.cancel()
    default: try await shop.shutdown()
    }
    do { try await run.value } catch let error as EnvironmentError {
      // The other caller was faster.
      #expect(error.code == .finished && steps % 3 == 2)
    }
    #expect(shop.isReleased)
    let entries = journal.entries
    for name in ["database", "consumer"] {
      #expect(entries.contains("start \(name)") == entries.contains("end \(name)"))
    }
    if let end = entries.firstIndex(of: "end database") {
      #expect(entries.lastIndex { $0.hasPrefix("start") || $0 == "end consumer" }.map { $0 < end } == true)
      #expect(entries.firstIndex(of: "release database").map { $0 > end } == true)
    }
  }

  private final class Order: Sendable {}

  /// Serves a last request after its cancellation.
  private final class Server: RunnableBean {
    private let serve: @Sendable () throws -> Void
    init(_ serve: @escaping @Sendable () throws -> Void) { self.serve = serve }

    func run() async throws {
      while !Task.isCancelled { await Task.yield() }
      try serve()
    }
  }

  @Test("A run that has been cancelled completes its requests: lookups succeed here and in children")
  func lastRequest() async throws {
    let shop = try shop()
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Order.self, factory: { Order() }))
    }
    let journal = journal
    try shop.define(
      shop.bean(Server.self) { (_: Repository) in
        Server {
          try requests.withChild(1) { request in
            _ = try request.getBean(Order.self)
            journal.note("served")
          }
        }
      })
    let run = Task { try await shop.run() }
    _ = try await running(Consumer.self, in: shop)
    shop.stop()
    try await run.value
    let entries = journal.entries
    #expect(entries.firstIndex(of: "served").map { $0 < entries.firstIndex(of: "end database") ?? -1 } == true)
    #expect(entries.suffix(2) == ["release repository", "release database"])
  }

  // MARK: failures

  @Test("A failure ends the others in order, and names the bean, its place and its error")
  func failure() async throws {
    let shop = try shop { try $0.define($0.bean(Failing.self, factory: Failing.init)) }
    let run = Task { try await shop.run() }
    _ = try await running(Consumer.self, in: shop)
    try shop.getBean(Failing.self).gate.open()
    let fault = try await #require(throws: EnvironmentError.self) { try await run.value }
    #expect(fault.code == .runFailed)
    #expect(fault.path == ["Failing"])
    #expect(fault.message.contains("Broken"))
    #expect(fault.origin?.file.hasSuffix("RunningSpecification.swift") == true)
    #expect(fault.underlying.first as? Broken == Broken())
    #expect(fault.underlying.count == 1)
    #expect(journal.entries.suffix(4) == ["end consumer", "end database", "release repository", "release database"])
  }

  @Test("The errors of the end follow the first one")
  func laterErrors() async throws {
    final class Last: Worker, @unchecked Sendable {
      init(_ journal: Journal) { super.init("last", journal) }
      override func run() async throws {
        try await super.run()
        throw Broken(text: "late")
      }
    }
    let shop = try shop {
      try $0.define($0.bean(Failing.self, factory: Failing.init)).define($0.bean(Last.self, factory: Last.init))
    }
    let run = Task { try await shop.run() }
    _ = try await running(Last.self, in: shop)
    try shop.getBean(Failing.self).gate.open()
    let fault = try await #require(throws: EnvironmentError.self) { try await run.value }
    #expect(fault.path == ["Failing"])
    #expect(fault.underlying.count == 2)
    let later = try #require(fault.underlying.last as? EnvironmentError)
    #expect(later.code == .destructionFailed)
    #expect(later.path == ["Last"])
  }

  @Test("A run that fails before it is ready keeps an asynchronous bean from being created")
  func failureBeforeReady() async throws {
    final class Unready: RunnableBean, Sendable {
      func run() async throws { throw Broken() }
      func untilReady() async throws { await Latch().wait() }
    }
    final class Needing: AsyncBean, Sendable {
      let journal: Journal
      init(_ unready: Unready, _ journal: Journal) { self.journal = journal }
      func postConstruct() async throws { journal.note("created") }
    }
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(Needing.self, factory: Needing.init))
      .define(environment.bean(Unready.self, factory: Unready.init))
      .define(environment.bean(journal))
    let fault = try await #require(throws: EnvironmentError.self) { try await environment.run() }
    #expect(fault.code == .runFailed)
    #expect(fault.path == ["Unready"])
    #expect(journal.entries == [])
  }

  @Test("A start that fails throws its own error, after the end")
  func failedStart() async throws {
    let shop = try shop { try $0.define($0.bean(Int.self, async: { throw Broken() })) }
    let fault = try await #require(throws: EnvironmentError.self) { try await shop.run() }
    #expect(fault.code == .creationFailed)
    #expect(fault.path == ["Int"])
    #expect(shop.isReleased)
    let starts = journal.entries.filter { $0.hasPrefix("start") }
    #expect(starts.count == journal.entries.filter { $0.hasPrefix("end") }.count)
    #expect(journal.entries.last == "release database")
  }

  @Test("A second concurrent call of run() is a fault")
  func runTwice() async throws {
    let shop = try shop()
    async let run: Void = shop.run()
    _ = try await running(Consumer.self, in: shop)
    let fault = try await #require(throws: EnvironmentError.self) { try await shop.run() }
    #expect(fault.code == .runFailed)
    #expect(fault.message == "environment 'shop' runs already")
    shop.stop()
    try await run
  }

  // MARK: restarts

  /// Fails each time, after a time that the test sets.
  private final class Unstable: RunnableBean, Sendable {
    let calls = AsyncGate()
    let journal: Journal
    let clock: ManualClock
    let lasting: Duration
    init(_ journal: Journal, _ clock: ManualClock, lasting: Duration = .zero) {
      (self.journal, self.clock, self.lasting) = (journal, clock, lasting)
    }
    func run() async throws {
      journal.note("run at \(clock.now.offset)")
      calls.arrive()
      if lasting > .zero { try await clock.sleep(for: lasting) }
      throw Broken()
    }
  }

  private func unstable(_ clock: ManualClock, limit: Int, lasting: Duration = .zero) throws -> Environment {
    let environment = try Environment(name: "shop")
    try environment.useClock(clock)
    try environment.define(
      environment.bean(Unstable.self, factory: { [journal] in Unstable(journal, clock, lasting: lasting) })
        .restarts(after: .seconds(1), upTo: .seconds(3), limit: limit))
    return environment
  }

  @Test("A run that fails is restarted after a delay that doubles up to the longest, until the limit is reached")
  func restarts() async throws {
    let clock = ManualClock()
    let environment = try unstable(clock, limit: 3)
    let run = Task { try await environment.run() }
    for delay in [1, 2, 3] {
      try await clock.waitForSleepers()
      #expect(clock.deadlines.map(\.offset) == [clock.now.offset + .seconds(delay)])
      clock.advanceToNextSleeper()
    }
    let fault = try await #require(throws: EnvironmentError.self) { try await run.value }
    #expect(fault.code == .runFailed)
    #expect(fault.path == ["Unstable"])
    #expect(journal.entries == [0, 1, 3, 6].map { "run at \(Duration.seconds($0))" })
  }

  @Test("A run that has lasted longer than the longest delay begins the count anew")
  func countBeginsAnew() async throws {
    let clock = ManualClock()
    let environment = try unstable(clock, limit: 1, lasting: .seconds(4))
    let run = Task { try await environment.run() }
    for _ in 0..<3 {
      // The run, then the delay.
      try await clock.waitForSleepers()
      clock.advanceToNextSleeper()
      try await clock.waitForSleepers()
      #expect(clock.deadlines.map(\.offset) == [clock.now.offset + .seconds(1)])
      clock.advanceToNextSleeper()
    }
    environment.stop()
    try await run.value
    #expect(journal.entries.prefix(3) == ["run at 0.0 seconds", "run at 5.0 seconds", "run at 10.0 seconds"])
  }

  @Test("The end of the environment ends the wait for a restart")
  func endDuringDelay() async throws {
    let clock = ManualClock()
    let environment = try unstable(clock, limit: 3)
    let run = Task { try await environment.run() }
    try await clock.waitForSleepers()
    environment.stop()
    try await run.value
    #expect(journal.entries.count == 1)
    #expect(clock.sleeperCount == 0)
  }

  // MARK: declarations

  @Test("A runnable bean that nothing would run is a fault of startup")
  func misplaced() throws {
    let environment = try Environment(name: "shop")
    let requests = try environment.childFactory("request", seed: Int.self) { [journal] child in
      try child.define(child.bean(Worker.self, id: "child", factory: { Worker("child", journal) }))
    }
    try environment
      .define(
        environment.bean(Worker.self, id: "new", factory: { [journal] in Worker("new", journal) }).scope("prototype")
      )
      .define(
        environment.bean(Worker.self, id: "request", factory: { [journal] in Worker("r", journal) }).scope("request"))
    let found = faults(of: environment).map(\.message).sorted()
    #expect(
      found == [
        "Worker 'child' is a RunnableBean, which nothing would run: it belongs to the children of a factory",
        "Worker 'new' is a RunnableBean, which nothing would run: the container keeps no instance of it",
        "Worker 'request' is a RunnableBean, which nothing would run: it belongs to the children of a factory",
      ])
    withExtendedLifetime(requests) {}
  }

  @Test("A bean behind a protocol, and one that other code releases, run as others")
  func otherDeclarations() async throws {
    let environment = try Environment(name: "shop")
    let own = Worker("external", journal)
    try environment
      .define(environment.bean((any Sendable).self, id: "hidden", factory: { [journal] in Worker("hidden", journal) }))
      .define(environment.bean(own).externallyOwned())
    async let run: Void = environment.run()
    await own.started.arrivals(1)
    let hidden = try #require(try environment.getBean((any Sendable).self, byId: "hidden") as? Worker)
    await hidden.started.arrivals(1)
    environment.stop()
    try await run
    #expect(journal.entries.suffix(2) == ["end external", "end hidden"])
  }

  @Test("A bean that runs and its environment are deallocated after the end")
  func retention() async throws {
    weak var bean: Database?
    weak var released: Environment?
    do {
      let shop = try shop()
      async let run: Void = shop.run()
      _ = try await running(Consumer.self, in: shop)
      bean = try shop.getBean(Database.self)
      released = shop
      shop.stop()
      try await run
    }
    while bean != nil || released != nil { await Task.yield() }
    #expect(bean == nil)
  }
}

// MARK: beans

extension RunningSpecification {
  fileprivate struct Broken: Error, Equatable {
    var text = "broken"
  }

  /// Works until it is cancelled, and notes its start and its end.
  fileprivate class Worker: RunnableBean, @unchecked Sendable {  // the subclasses have constants only
    let name: String
    let journal: Journal
    let started = AsyncGate()
    private let end = Latch()

    init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }

    func run() async throws {
      journal.note("start \(name)")
      started.arrive()
      await end.wait()
      journal.note("end \(name)")
    }

    func untilReady() async throws {}

    /// Lets the run return.
    func complete() { end.open() }
  }

  fileprivate final class Database: Worker, DisposableBean, @unchecked Sendable {
    init(journal: Journal) { super.init("database", journal) }
    func preDestroy() { journal.note("release database") }
  }

  /// Does not run, between two that do.
  fileprivate final class Repository: DisposableBean, Sendable {
    let database: Database
    let journal: Journal
    init(database: Database, journal: Journal) { (self.database, self.journal) = (database, journal) }
    func preDestroy() { journal.note("release repository") }
  }

  /// Needs a database that runs.
  fileprivate final class Migrations: AsyncBean, Sendable {
    let database: Database
    let journal: Journal
    init(database: Database, journal: Journal) { (self.database, self.journal) = (database, journal) }
    func postConstruct() async throws {
      await database.started.arrivals(1)
      journal.note("migrated")
    }
  }

  fileprivate final class Consumer: Worker, @unchecked Sendable {
    init(repository: Repository, migrations: Migrations, journal: Journal) { super.init("consumer", journal) }
  }

  /// Fails when the test opens its gate.
  fileprivate final class Failing: RunnableBean, Sendable {
    let gate = AsyncGate()
    let journal: Journal
    init(database: Database, journal: Journal) { self.journal = journal }
    func run() async throws {
      journal.note("start failing")
      await gate.pass()
      throw Broken()
    }
  }
}
