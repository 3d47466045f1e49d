import Beans
import BeansEventLoop
import BeansLogging
import BeansRunning
import BeansServer
import Dispatch
import Glibc
import TestSupport
import Testing

extension EventLoop {
  /// A handle counts until the loop has come round to its end.
  fileprivate func expectNoHandles() throws {
    try waitUntil("no open handle") { openHandles == [:] }
  }
}

/// Serialised: a signal reaches every lifecycle of the process.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ServerLifecycleTests {
  private let journal = Journal()
  private let application: Environment

  init() throws {
    application = try Environment(name: "application")
    try application.define(
      application.bean(Log.self, factory: { Log() }).onDestroy { [journal] _ in journal.note("released") })
    try application.startup()
  }

  /// Notes the limit it is given and is done at once.
  private var quickDrain: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void {
    { [journal] limit, done in
      journal.note("drain \(limit)")
      done()
    }
  }

  /// Starts `run()` on a thread and waits until signals are watched.
  private func running(_ lifecycle: ServerLifecycle) throws -> BackgroundThread<Void> {
    try lifecycle.watchSignals()
    return BackgroundThread { try lifecycle.run() }
  }

  // MARK: signals

  @Test(arguments: [SIGTERM, SIGINT])
  func aSignalDrainsThenShutsTheEnvironmentDown(_ signal: Int32) throws {
    try withLoops { loops in
      let lifecycle = ServerLifecycle(
        environment: application, loop: loops[0], drainLimit: .seconds(7), drain: quickDrain)
      let thread = try running(lifecycle)
      #expect(!application.isFinished)
      #expect(kill(getpid(), signal) == 0)
      try thread.value()
      #expect(journal.entries == ["drain 7.0 seconds", "released"])
      #expect(application.isFinished)
      try loops[0].expectNoHandles()
    }
  }

  /// Runs until it is cancelled.
  private final class Consumer: RunnableBean {
    let journal: Journal
    let begun = Gate("the run")
    init(_ journal: Journal) { self.journal = journal }

    func run() async throws {
      begun.open()
      defer { journal.note("end of the run, cancelled: \(Task.isCancelled)") }
      try await Task.sleep(for: .seconds(3_600))
    }
  }

  @Test func aBeanThatRunsEndsInItsPlaceInTheOrder() async throws {
    let shop = try Environment(name: "shop")
    try shop
      .define(
        shop.bean(Log.self, factory: { Log() }).onDestroy { [journal] _ in journal.note("log released") }
      )
      .define(
        shop.bean(Consumer.self, factory: { [journal] (_: Log) in Consumer(journal) })
          .onDestroy { [journal] _ in journal.note("consumer released") })
    try shop.startup()
    let run = Task { try await shop.run() }
    try withLoops { loops in
      try shop.getBean(Consumer.self).begun.wait()
      let lifecycle = ServerLifecycle(
        environment: shop, loop: loops[0], shutdownLimit: .seconds(60), drain: quickDrain)
      let thread = try running(lifecycle)
      lifecycle.stop()
      try thread.value()
    }
    try await run.value
    #expect(
      journal.entries == [
        "drain 10.0 seconds", "end of the run, cancelled: true", "consumer released", "log released",
      ])
  }

  @Test func noEnvironmentEndsBeforeTheDrainIsDone() throws {
    try withLoops { loops in
      let draining = Handed<@Sendable () -> Void>()
      let begun = Gate("the drain")
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0]) { [journal] limit, done in
        journal.note("drain \(limit)")
        draining.value = done
        begun.open()
      }
      let thread = try running(lifecycle)
      #expect(kill(getpid(), SIGTERM) == 0)
      try begun.wait()
      // The last request is still there and may use the application.
      _ = try application.getBean(Log.self)
      journal.note("last request")
      draining.value?()
      try thread.value()
      #expect(journal.entries == ["drain 10.0 seconds", "last request", "released"])
      // Ending a drain twice does no harm.
      draining.value?()
      draining.value = nil
    }
  }

  @Test func workBeforeTheShutdownRunsInOrderAfterTheDrain() throws {
    try withLoops { loops in
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0], drain: quickDrain)
      for number in 1...2 { lifecycle.whenFinishing { [journal] in journal.note("work \(number)") } }
      lifecycle.stop()
      try lifecycle.run()
      lifecycle.whenFinishing { [journal] in journal.note("late work") }
      #expect(journal.entries == ["drain 10.0 seconds", "work 1", "work 2", "released", "late work"])
    }
  }

  @Test func furtherSignalsEndTheDrainAtOnce() throws {
    try withLoops { loops in
      let begun = Gate("the drain")
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0]) { [journal] limit, done in
        journal.note("drain \(limit)")
        if limit == .zero { done() } else { begun.open() }
      }
      let thread = try running(lifecycle)
      #expect(kill(getpid(), SIGTERM) == 0)
      try begun.wait()
      #expect(!application.isFinished)
      #expect(kill(getpid(), SIGINT) == 0)
      try thread.value()
      #expect(journal.entries == ["drain 10.0 seconds", "drain 0.0 seconds", "released"])
    }
  }

  @Test func theEndGivesUpARelease() throws {
    let end = Gate("the end of what hangs")
    let service = try Environment(name: "service")
    let journal = journal
    try service.define(service.bean(7).onDestroy { _ in journal.note("released") })
    try service.define(
      service.bean(String.self, factory: { (_: Int) in "seven" }).onDestroy { _ in try end.wait() })
    try service.startup()
    try withLoops { loops in
      let lifecycle = ServerLifecycle(
        environment: service, loop: loops[0], shutdownLimit: .milliseconds(400), drain: quickDrain)
      let thread = try running(lifecycle)
      lifecycle.stop()
      let error = #expect(throws: EnvironmentError.self) { try thread.value() }
      #expect("\(error as Any)".contains("String in 'service' has been abandoned"))
      try service.waitForEnd()
      #expect(journal.entries.contains("released"))
      end.open()
    }
  }

  /// A request that outlasts the drain and the limit of the shutdown is rolled back, and its `withChild` throws the name of
  /// the end.
  @Test func aRequestBeyondTheLimitsIsRolledBack() async throws {
    let (service, journal) = (try Environment(name: "service"), journal)
    let (entered, leaves) = (Latch(), Latch())
    let requests = try service.childFactory("request", seed: Int.self) { request in
      try request.define(Log.self, factory: Log.init) {
        $0.onDestroy { _, outcome in
          if case .completed = outcome { journal.note("commit") } else { journal.note("rollback") }
        }
      }
    }
    try service.startup()
    let request = Task {
      try await requests.withChild(1) { child in
        _ = try child.getBean(Log.self)
        entered.open()
        await leaves.wait()
      }
    }
    await entered.wait()
    try withLoops { loops in
      let lifecycle = ServerLifecycle(
        environment: service, loop: loops[0], shutdownLimit: .milliseconds(50), drain: quickDrain)
      lifecycle.stop()
      let error = #expect(throws: EnvironmentError.self) { try lifecycle.run() }
      #expect("\(error as Any)".contains("limit"), "\(error as Any)")
    }
    #expect(journal.entries == ["drain 10.0 seconds", "rollback"])
    leaves.open()
    let fault = await #expect(throws: EnvironmentError.self) { try await request.value }
    #expect(fault?.code == .finished)
  }

  /// Entries in a queue of the log at SIGTERM, and entries logged until the end, are written.
  @Test func logsAreFlushedAtTheEnd() throws {
    final class Kept: BeansLogging.Log, @unchecked Sendable {  // the journal is locked
      let journal = Journal()
      override func log(_ entry: LogEntry) { journal.note(entry.message) }
    }
    let kept = Kept(name: "kept")
    // Nothing but the flush writes: the queue's own thread does not run.
    let stopped = DispatchQueue(label: "stopped")
    stopped.suspend()
    defer { stopped.resume() }
    let logs = LogManager(installing: false)
      .registerLogger("", level: .info, logs: [QueuedLog(name: "queue", delegate: kept, queue: stopped)])
    let logger = logs.getLogger(forName: "service")
    let service = try Environment(name: "service")
    try service.define(service.bean(7).onDestroy { _ in logger.info("released") }).startup()
    try withLoops { loops in
      let lifecycle = ServerLifecycle(environment: service, loop: loops[0], logs: logs) { _, done in
        logger.info("drained")
        done()
      }
      let thread = try running(lifecycle)
      #expect(kill(getpid(), SIGTERM) == 0)
      try thread.value()
      #expect(kept.journal.entries == ["drained", "released"])
    }
  }

  @Test func aHangUpOpensTheFilesOfLogsAgain() throws {
    final class File: BeansLogging.Log, @unchecked Sendable {  // immutable
      let reopened = Gate("the file, again")
      override func reopen() { reopened.open() }
    }
    let file = File(name: "file")
    let logs = LogManager(installing: false).registerLogger("", level: .info, logs: [file])
    try withLoops { loops in
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0], logs: logs, drain: quickDrain)
      let thread = try running(lifecycle)
      #expect(kill(getpid(), SIGHUP) == 0)
      try file.reopened.wait()
      #expect(!application.isFinished)
      #expect(kill(getpid(), SIGTERM) == 0)
      try thread.value()
    }
  }

  @Test func aSignalBeforeRunIsNotLost() throws {
    try withLoops { loops in
      let drained = Gate("the drain")
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0]) { _, done in
        done()
        drained.open()
      }
      try lifecycle.watchSignals()
      try lifecycle.watchSignals()
      #expect(loops[0].openHandles == ["SignalSource": 3])
      #expect(kill(getpid(), SIGTERM) == 0)
      try drained.wait()
      #expect(!application.isFinished)
      try lifecycle.run()
      #expect(journal.entries == ["released"])
      try loops[0].expectNoHandles()
    }
  }

  /// No thread runs the lifecycle that begins to end, as in a start that hangs.
  @Test func aSignalEndsAProcessThatDoesNotRunItsServiceWithinTheLimit() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let thread = try EventLoopThread()
      let lifecycle = ServerLifecycle(
        environment: try Environment(name: "service"), loop: thread.loop, drainLimit: .milliseconds(1)
      ) { _, done in done() }
      try lifecycle.watchSignals()
      kill(getpid(), SIGTERM)
      try thread.join()
    }
  }

  @Test func laterSignalsEndAProcessThatDoesNotRunItsService() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      let thread = try EventLoopThread()
      let lifecycle = ServerLifecycle(
        environment: try Environment(name: "service"), loop: thread.loop, drainLimit: .seconds(600)
      ) { _, done in done() }
      try lifecycle.watchSignals()
      while true {
        kill(getpid(), SIGINT)
        usleep(10_000)
      }
    }
  }

  @Test func aSignalDuringTheLastReleasesHasNoEffect() throws {
    try withLoops { loops in
      let releasing = Gate("the last release")
      let signalled = Gate("a signal during the last release")
      let slow = try Environment(name: "slow")
      try slow.define(
        slow.bean(Cart.self, factory: { Cart() }).onDestroy { [journal] _ in
          releasing.open()
          try signalled.wait()
          journal.note("released slowly")
        })
      try slow.startup()
      let lifecycle = ServerLifecycle(environment: slow, loop: loops[0], drain: quickDrain)
      let thread = try running(lifecycle)
      lifecycle.stop()
      try releasing.wait()
      // A source of its own fires when the signal has gone round; it was added last, so the lifecycle has seen it by
      // then.
      let seen = Gate("the signal")
      let source = try loops[0].perform { try loops[0].onSignal(SIGTERM) { seen.open() } }
      #expect(kill(getpid(), SIGTERM) == 0)
      try seen.wait()
      try loops[0].perform { source.close() }
      signalled.open()
      try thread.value()
      #expect(journal.entries == ["drain 10.0 seconds", "released slowly"])
      try loops[0].expectNoHandles()
    }
  }

  @Test func aSignalAfterTheEndHasNoEffect() async {
    await #expect(processExitsWith: .success) {
      let thread = try EventLoopThread()
      let application = try Environment(name: "application")
      let lifecycle = ServerLifecycle(environment: application, loop: thread.loop) { _, done in done() }
      try lifecycle.watchSignals()
      kill(getpid(), SIGTERM)
      // Sent until the loop has been closed, at every moment in between.
      let sender = BackgroundThread { while !thread.loop.isClosed { kill(getpid(), SIGTERM) } }
      try lifecycle.run()
      try thread.stopAndJoin()
      try sender.value()
      kill(getpid(), SIGTERM)
      kill(getpid(), SIGINT)
    }
  }

  @Test func aLifecycleThatCannotRunGivesItsSignalsBack() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let thread = try EventLoopThread()
      let application = try Environment(name: "application")
      do {
        let lifecycle = ServerLifecycle(environment: application, loop: thread.loop) { _, done in done() }
        try lifecycle.watchSignals()
      }
      try thread.stopAndJoin()
      kill(getpid(), SIGTERM)
      while true { pause() }
    }
  }

  // MARK: stop

  @Test(arguments: ["another thread", "the loop"])
  func stopHasTheEffectOfASignal(_ place: String) throws {
    try withLoops { loops in
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0], drain: quickDrain)
      let thread = try running(lifecycle)
      if place == "the loop" { try loops[0].perform { lifecycle.stop() } } else { lifecycle.stop() }
      try thread.value()
      #expect(journal.entries == ["drain 10.0 seconds", "released"])
      lifecycle.stop()
      #expect(journal.entries.count == 2)
    }
  }

  @Test func stopBeforeRunEndsTheLifecycleAtOnce() throws {
    try withLoops { loops in
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0], drain: quickDrain)
      lifecycle.stop()
      try lifecycle.run()
      #expect(journal.entries == ["drain 10.0 seconds", "released"])
    }
  }

  @Test func manyStopsAtOnceAreOneDrainAndItsEnd() throws {
    try withLoops { loops in
      let tally = Tally()
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0]) { limit, done in
        tally.count(limit == .zero ? "hurried" : "begun")
        if limit == .zero { done() }
      }
      let thread = try running(lifecycle)
      DispatchQueue.concurrentPerform(iterations: 8) { _ in lifecycle.stop() }
      try thread.value()
      #expect(tally["begun"] == 1)
      #expect(tally["hurried"] >= 1)
      #expect(journal.entries == ["released"])
    }
  }

  // MARK: the end

  @Test func errorsOfTheShutdownAreThrownAndTheSignalsAreGivenBack() throws {
    try withLoops { loops in
      let failing = try Environment(name: "failing")
      try failing.define(failing.bean(Cart.self, factory: { Cart() }).onDestroy { _ in throw Boom() })
      try failing.startup()
      let lifecycle = ServerLifecycle(environment: failing, loop: loops[0], drain: quickDrain)
      lifecycle.stop()
      #expect(throws: EnvironmentError(.destructionFailed, "")) { try lifecycle.run() }
      try loops[0].expectNoHandles()
    }
  }

  @Test func sessionsAndRequestsThatAreLeftEndOnTheirLoops() throws {
    try withLoops(2) { loops in
      let service = try Environment(name: "service")
      let journal = journal
      let sessions = try service.childFactory("session", seed: Int.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in journal.note("cart\(loops[0].place)") })
      } scope: {
        SessionScope(loop: loops[0], idleTimeout: .seconds(3_600))
      }
      let requests = try sessions.childFactory("request", seed: Int.self) {
        try $0.define(
          $0.bean(Log.self, factory: { (_: Cart) in Log() }).onDestroy { _ in journal.note("log\(loops[1].place)") })
      } scope: {
        RequestScope(loop: loops[1])
      }
      let session = try sessions.build(1)
      _ = try requests.build(1, in: session).getBean(Log.self)
      let lifecycle = ServerLifecycle(environment: service, loop: loops[0]) { _, done in done() }
      let thread = try running(lifecycle)
      #expect(kill(getpid(), SIGTERM) == 0)
      try thread.value()
      #expect(journal.entries == ["log on the loop", "cart on the loop"])
      for counts in service.statistics() {
        #expect(counts.opened == counts.finished)
        #expect(counts.created == counts.released)
      }
    }
  }

  // MARK: failures before the run

  @Test func aLoopThatHasEndedIsAnError() throws {
    let loop = try EventLoop()
    try loop.close()
    let lifecycle = ServerLifecycle(environment: application, loop: loop, drain: quickDrain)
    #expect(throws: EnvironmentError(.finished, "")) { try lifecycle.run() }
    #expect(!application.isFinished)
  }

  @Test func aLifecycleThatNeverRanMayBeDroppedAndGivesItsSignalsBack() async {
    // Runs in a process of its own, because the trap that must not happen would stop this one.
    await #expect(processExitsWith: .success) {
      let thread = try EventLoopThread()
      let application = try Environment(name: "application")
      do {
        let lifecycle = ServerLifecycle(environment: application, loop: thread.loop) { _, done in done() }
        try lifecycle.watchSignals()
      }
      try thread.stopAndJoin()
    }
  }
}
