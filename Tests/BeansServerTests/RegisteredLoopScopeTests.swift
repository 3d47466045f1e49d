import Beans
import BeansEventLoop
import BeansServer
import Glibc
import TestSupport
import Testing

/// A loop's scope that belongs to an environment instead of a child: when it ends, and where its beans are released.
@Suite(.timeLimit(.minutes(20)))
struct RegisteredLoopScopeTests {
  private let journal = Journal()
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  private func declareCart(_ scope: String, on loop: EventLoop, in environment: Environment? = nil) throws {
    let (journal, environment) = (journal, environment ?? application)
    try environment.define(
      environment.bean(Cart.self, lazy: true, factory: { Cart() }).scope(scope)
        .onDestroy { _ in journal.note("cart\(loop.place)") })
  }

  private func declareUpload(_ scope: String, on loop: EventLoop) throws {
    let journal = journal
    try application.define(
      application.bean(Upload.self, lazy: true, factory: { Upload(loop: loop, journal: journal) }).scope(scope))
  }

  private func isFinished(_ body: () throws -> Any) -> Bool {
    do {
      _ = try body()
      return false
    } catch { return (error as? EnvironmentError)?.code == .finished }
  }

  // MARK: time

  /// The loop runs both the use and the idle timer, in the order of their times: however late it is, the use comes first.
  @Test(arguments: [true, false])
  func aUseBeginsTheIdleTimeAnew(isLookup: Bool) throws {
    try withLoops { loops in
      let (application, idleTimeout) = (application, Duration.milliseconds(60))
      let scope = SessionScope(loop: loops[0], idleTimeout: idleTimeout)
      try application.registerScope(scope)
      try declareCart("session", on: loops[0])
      let lastUse = Handed<ContinuousClock.Instant>()
      try loops[0].perform {
        _ = try application.getBean(Cart.self)
        loops[0].schedule(after: idleTimeout / 2) {
          lastUse.value = .now
          if isLookup { _ = try? application.getBean(Cart.self) } else { scope.touch() }
        }
      }
      try waitUntil("the end of the session") { !journal.entries.isEmpty }
      let used = try #require(lastUse.value)
      #expect(used.duration(to: .now) >= idleTimeout)
      try application.shutdown()
    }
  }

  @Test func theEarlierOfTwoTimesEndsTheScope() throws {
    try withLoops { loops in
      for (deadline, idleTimeout) in [(20, 3_600_000), (3_600_000, 20)] {
        let environment = try Environment(name: "tenant")
        let scope = LoopScope(
          name: "tenant", loop: loops[0], deadline: .milliseconds(deadline), idleTimeout: .milliseconds(idleTimeout))
        try environment.registerScope(scope)
        try declareCart("tenant", on: loops[0], in: environment)
        try environment.startup()
        try waitUntil("the end of the tenant") { loops[0].scheduledCount == 0 }
        // After the timer, which has left the count before it runs.
        try loops[0].perform {}
        #expect(isFinished { try environment.getBean(Cart.self) })
        try environment.shutdown()
      }
    }
  }

  @Test func theTimeOfAScopeBeginsAtStartup() throws {
    try withLoops { loops in
      try application.registerScope(RequestScope(loop: loops[0], deadline: .seconds(3_600)))
      try declareCart("request", on: loops[0])
      #expect(loops[0].scheduledCount == 0)
      try application.startup()
      #expect(loops[0].scheduledCount == 1)
      try application.shutdown()
      #expect(loops[0].scheduledCount == 0)
    }
  }

  @Test func aFailedStartupLeavesNoTimer() throws {
    try withLoops { loops in
      try application.registerScope(RequestScope(loop: loops[0], deadline: .seconds(3_600)))
      try declareCart("request", on: loops[0])
      try application.define(application.bean(Log.self, factory: { () throws -> Log in throw Boom() }))
      #expect(throws: EnvironmentError.self) { try application.startup() }
      #expect(loops[0].scheduledCount == 0)
    }
  }

  @Test func anEarlyFinishTakesTheTimerBack() throws {
    try withLoops { loops in
      let scope = RequestScope(loop: loops[0], deadline: .seconds(3_600))
      try application.registerScope(scope)
      try declareCart("request", on: loops[0])
      try application.startup()
      scope.finish()
      #expect(loops[0].scheduledCount == 0)
      #expect(isFinished { try application.getBean(Cart.self) })
      #expect(loops[0].scheduledCount == 0)
      try application.shutdown()
    }
  }

  // MARK: the place of release

  @Test func theCallerReleasesWithoutARunningLoop() throws {
    let loop = try EventLoop()
    let scope = RequestScope(loop: loop)
    try application.registerScope(scope)
    try declareCart("request", on: loop)
    _ = try application.getBean(Cart.self)
    scope.finish()
    #expect(journal.entries == ["cart elsewhere"])
    try application.shutdown()
    try loop.close()
    #expect(journal.entries == ["cart elsewhere"])
  }

  @Test(arguments: ["never run", "stopped", "closed"])
  func aShutdownReleasesInPlaceWithoutARunningLoop(_ condition: String) throws {
    let loop = try EventLoop()
    try application.registerScope(RequestScope(loop: loop))
    try declareCart("request", on: loop)
    _ = try application.getBean(Cart.self)
    if condition != "never run" {
      loop.stop()
      try loop.run()
    }
    if condition == "closed" { try loop.close() }
    try application.shutdown()
    #expect(journal.entries == ["cart elsewhere"])
    try loop.close()
    #expect(journal.entries == ["cart elsewhere"])
  }

  @Test func finishDoesNotWaitForTheLoop() throws {
    try withLoops { loops in
      let gate = Gate("the blocked loop")
      try application.registerScope(RequestScope(loop: loops[0]))
      try declareCart("request", on: loops[0])
      _ = try application.getBean(Cart.self)
      try loops[0].block(by: gate)
      application.finish()
      #expect(journal.entries == [])
      gate.open()
      try application.waitForEnd()
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  @Test func beansOfTwoLoopsAreEachReleasedOnTheirOwn() throws {
    try withLoops(2) { loops in
      let journal = journal
      for (number, loop) in loops.enumerated() {
        try application.registerScope(LoopScope(name: "loop\(number)", loop: loop))
        for bean in 0..<20 {
          try application.define(
            application.bean(Log.self, id: "\(number) \(bean)", factory: { Log() }).scope("loop\(number)")
              .onDestroy { _ in journal.note("\(number) \(bean)\(loop.place)") })
        }
      }
      for bean in 0..<20 { for number in 0..<2 { _ = try application.getBean(Log.self, byId: "\(number) \(bean)") } }
      try application.shutdown()
      #expect(
        journal.entries
          == (0..<20).reversed().flatMap { ["1 \($0) on the loop", "0 \($0) on the loop"] })
    }
  }

  @Test func aShutdownOnTheLoopTakesReleasesThatAnotherThreadHasHandedOver() throws {
    try withLoops { loops in
      let (application, journal) = (application, journal)
      try application.registerScope(RequestScope(loop: loops[0]))
      try declareCart("request", on: loops[0])
      _ = try application.getBean(Cart.self)
      let isFinished = Gate("a finish from outside")
      let isBlocked = Gate("the loop being busy")
      let seen = Handed<[String]>()
      loops[0].execute {
        do {
          isBlocked.open()
          try isFinished.wait()
          try application.shutdown()
          seen.value = journal.entries
        } catch {
          Issue.record(error)
        }
      }
      try isBlocked.wait()
      application.finish()
      isFinished.open()
      try loops[0].perform {}
      #expect(seen.value == ["cart on the loop"])
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  /// The loop waits in its own shutdown when another thread comes to the bean that only the loop may release.
  @Test func aShutdownOnTheLoopHelpsAnEarlierOne() throws {
    try withLoops { loops in
      let (application, journal, loop) = (application, journal, loops[0])
      let isReleasing = Gate("a release on another thread")
      let mayGoOn = Gate("the end of that release")
      try application.registerScope(RequestScope(loop: loop))
      try declareCart("request", on: loop)
      try application.define(
        application.bean(Log.self, lazy: true, factory: { Log() }).onDestroy { _ in
          isReleasing.open()
          try mayGoOn.wait()
        })
      _ = try application.getBean(Cart.self)
      _ = try application.getBean(Log.self)
      let first = BackgroundThread { try application.shutdown() }
      try isReleasing.wait()
      let isWaiting = Gate("the shutdown on the loop")
      loop.execute {
        isWaiting.open()
        do { try application.shutdown() } catch { Issue.record(error) }
        journal.note("shutdown returns")
      }
      try isWaiting.wait()
      // Time enough for the loop to begin its wait, mostly.
      usleep(20_000)
      mayGoOn.open()
      try first.value()
      try loop.perform {}
      #expect(journal.entries == ["cart on the loop", "shutdown returns"])
    }
  }

  @Test func aShutdownWaitsForReleasesOfTheScope() throws {
    try withLoops { loops in
      let (application, journal, loop) = (application, journal, loops[0])
      let isReleasing = Gate("a release on the loop")
      let mayGoOn = Gate("the end of that release")
      let scope = RequestScope(loop: loop)
      try application.registerScope(scope)
      try application.define(
        application.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log") })
      try application.define(
        application.bean(Cart.self, lazy: true, factory: { Cart() }).scope("request").onDestroy { _ in
          isReleasing.open()
          try mayGoOn.wait()
          journal.note("cart\(loop.place)")
        })
      _ = try application.getBean(Cart.self)
      scope.finish()
      try isReleasing.wait()
      let thread = BackgroundThread {
        try application.shutdown()
        journal.note("shutdown returns")
      }
      try waitUntil("the shutdown having begun") { application.isFinished }
      #expect(journal.entries == [])
      mayGoOn.open()
      try thread.value()
      #expect(journal.entries == ["cart on the loop", "log", "shutdown returns"])
    }
  }

  @Test func aReleaseMayShutTheApplicationDown() throws {
    try withLoops { loops in
      let (application, journal) = (application, journal)
      let scope = RequestScope(loop: loops[0])
      try application.registerScope(scope)
      try application.define(
        application.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log") })
      try application.define(
        application.bean(Cart.self, lazy: true, factory: { Cart() }).scope("request").onDestroy { _ in
          try application.shutdown()
          journal.note("cart")
        })
      _ = try application.getBean(Cart.self)
      scope.finish()
      try application.waitForEnd()
      #expect(journal.entries == ["cart", "log"])
    }
  }

  // MARK: asynchronous releases

  private static let uploadOnTheLoop = ["upload begins on the loop", "upload ends on the loop"]

  enum End: CaseIterable { case finish, shutdown, finishAndShutdown }

  @Test(arguments: End.allCases)
  func anAsynchronousReleaseIsAwaitedOnTheLoop(_ end: End) throws {
    try withLoops { loops in
      let journal = journal
      let scope = RequestScope(loop: loops[0])
      try application.registerScope(scope)
      try application.define(
        application.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log") })
      try declareCart("request", on: loops[0])
      try declareUpload("request", on: loops[0])
      _ = try application.getBean(Cart.self)
      _ = try application.getBean(Upload.self)
      if end != .shutdown { scope.finish() }
      if end == .finish {
        try waitUntil("the release of the cart") { journal.entries.count == 3 }
        #expect(journal.entries == Self.uploadOnTheLoop + ["cart on the loop"])
      }
      try application.shutdown()
      #expect(journal.entries == Self.uploadOnTheLoop + ["cart on the loop", "log"])
    }
  }

  /// A wait on the loop would block the work that only the loop can do.
  @Test(arguments: End.allCases)
  func aShutdownOnTheLoopDoesNotWaitForAsynchronousReleases(_ end: End) throws {
    try withLoops { loops in
      let application = application
      let scope = RequestScope(loop: loops[0])
      try application.registerScope(scope)
      try declareUpload("request", on: loops[0])
      _ = try application.getBean(Upload.self)
      try loops[0].perform {
        if end != .shutdown { scope.finish() }
        if end == .finish { application.finish() } else { try application.shutdown() }
      }
      try application.waitForEnd()
      #expect(journal.entries == Self.uploadOnTheLoop)
    }
  }

  // MARK: the end

  @Test func aFailureIsThrownByTheShutdown() throws {
    try withLoops { loops in
      let scope = RequestScope(loop: loops[0])
      try application.registerScope(scope)
      try application.define(
        application.bean(Cart.self, lazy: true, factory: { Cart() }).scope("request").onDestroy { _ in throw Boom() })
      _ = try application.getBean(Cart.self)
      scope.finish()
      let failure = try #require(application.failedShutdown())
      #expect(failure.code == .destructionFailed)
      #expect(failure.underlying.first as? Boom == Boom())
    }
  }

  @Test func noBeanIsRetainedAfterTheEnd() throws {
    try withLoops { loops in
      weak var scopeObject: RequestScope?
      weak var environment: Environment?
      weak var cart: Cart?
      do {
        let application = try Environment(name: "tenant")
        let scope = RequestScope(loop: loops[0], deadline: .seconds(3_600))
        (scopeObject, environment) = (scope, application)
        try application.registerScope(scope)
        try declareCart("request", on: loops[0], in: application)
        cart = try application.getBean(Cart.self)
        try application.shutdown()
      }
      try loops[0].perform {}
      #expect(cart == nil)
      #expect(environment == nil)
      #expect(scopeObject == nil)
    }
  }

  @Test func aScopeThatWasFinishedBeforeItsChildOpensEndsTheChild() throws {
    try withLoops { loops in
      let loop = loops[0]
      let requests = try application.childFactory(
        "request", seed: Int.self,
        scope: {
          let scope = RequestScope(loop: loop, deadline: .seconds(3_600))
          scope.finish()
          return scope
        })
      #expect(isFinished { try requests.build(1).getBean(Int.self) })
      try application.shutdown()
    }
  }
}
