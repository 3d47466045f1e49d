import Beans
import BeansEventLoop
import BeansServer
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct RequestScopeTests {
  private let journal = Journal()
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  /// Requests with a log and, on top of it, a transaction.
  private func requests(on loop: EventLoop, deadline: Duration? = nil) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
      try $0.define(
        $0.bean(Transaction.self, factory: { (_: Log) in Transaction() })
          .onDestroy { _ in journal.note("transaction\(loop.place)") })
    } scope: {
      RequestScope(loop: loop, deadline: deadline)
    }
  }

  private let releasedOnTheLoop = ["transaction on the loop", "log on the loop"]

  // MARK: finish

  @Test func aRequestIsReleasedOnItsLoopWhenAnotherThreadFinishesIt() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      request.finish()
      try request.waitForEnd()
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  @Test func aRequestIsReleasedOnItsLoopWhenAnotherLoopFinishesIt() throws {
    try withLoops(2) { loops in
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      try loops[1].perform { request.finish() }
      try request.waitForEnd()
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  @Test func aRequestIsReleasedInPlaceWhenItsLoopFinishesIt() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      let seen = try loops[0].perform { [journal] in
        _ = try request.getBean(Transaction.self)
        request.finish()
        return journal.entries
      }
      #expect(seen == releasedOnTheLoop)
    }
  }

  @Test func theScopeObjectFinishesItsEnvironment() throws {
    try withLoops { loops in
      let loop = loops[0]
      let scope = Handed<RequestScope>()
      let requests = try application.childFactory(
        "request", seed: Int.self,
        scope: {
          let made = RequestScope(loop: loop)
          scope.value = made
          return made
        })
      let request = try requests.build(1)
      scope.value?.finish()
      #expect(request.isFinished)
      scope.value?.finish()
      try request.waitForEnd()
      scope.value?.finish()
    }
  }

  @Test func finishDoesNotWaitForTheLoop() throws {
    try withLoops { loops in
      let gate = Gate("the blocked loop")
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      try loops[0].block(by: gate)
      request.finish()
      #expect(journal.entries == [])
      #expect(throws: EnvironmentError(.finished, "")) { try request.getBean(Log.self) }
      request.finish()
      gate.open()
      try request.waitForEnd()
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  @Test func aLookupInFlightDelaysTheRelease() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      try request.withBean(Transaction.self) { _ in
        try loops[0].perform { request.finish() }
        // Work handed to the loop before this closure has run.
        try loops[0].perform {}
        #expect(journal.entries == [])
      }
      try request.waitForEnd()
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  @Test func aClosedConnectionFinishesItsRequest() throws {
    try withLoops { loops in
      let loop = loops[0]
      let requests = try requests(on: loop)
      let ended = Gate("end of the request")
      let port = try loop.perform {
        let listener = Handed<TCPListener>()
        let made = try TCPListener(on: loop) { connection in
          listener.value?.close()
          listener.value = nil
          do {
            let request = try requests.build(1)
            _ = try request.getBean(Transaction.self)
            request.whenFinished { ended.open() }
            connection.onClose = { _ in request.finish() }
            connection.resumeReading()
          } catch {
            Issue.record(error)
          }
        }
        listener.value = made
        return made.port
      }
      _ = try loop.perform {
        try TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { result in
          do { try result.get().reset() } catch { Issue.record(error) }
        }
      }
      try ended.wait()
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  // MARK: shutdown

  @Test func shutdownWaitsForTheLoop() throws {
    try withLoops { loops in
      let gate = Gate("the blocked loop")
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      try loops[0].block(by: gate)
      let thread = BackgroundThread { [journal] in
        try request.shutdown()
        journal.note("shutdown returns")
      }
      try waitUntil("the shutdown having begun") { request.isFinished }
      #expect(journal.entries == [])
      gate.open()
      try thread.value()
      #expect(journal.entries == releasedOnTheLoop + ["shutdown returns"])
    }
  }

  @Test func shutdownOnTheLoopReleasesInPlace() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      let seen = try loops[0].perform { [journal] in
        _ = try request.getBean(Transaction.self)
        try request.shutdown()
        return journal.entries
      }
      #expect(seen == releasedOnTheLoop)
    }
  }

  @Test func shutdownOnTheLoopTakesReleasesThatAnotherThreadHasHandedOver() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      let isFinished = Gate("a finish from outside")
      let isBlocked = Gate("the loop being busy")
      let seen = Handed<[String]>()
      loops[0].execute { [journal] in
        do {
          isBlocked.open()
          try isFinished.wait()
          try request.shutdown()
          seen.value = journal.entries
        } catch {
          Issue.record(error)
        }
      }
      try isBlocked.wait()
      request.finish()
      isFinished.open()
      // After the closure that `finish()` queued, which must find nothing left.
      try loops[0].perform {}
      #expect(seen.value == releasedOnTheLoop)
      #expect(journal.entries == releasedOnTheLoop)
    }
  }

  @Test func shutdownOfTheApplicationOnTheLoopReleasesItsRequestsInPlace() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      _ = try request.getBean(Transaction.self)
      let application = application
      let isReleased = try loops[0].perform { [journal] in
        try application.shutdown()
        return journal.entries
      }
      #expect(isReleased == releasedOnTheLoop)
    }
  }

  @Test(arguments: ["never run", "stopped", "closed"])
  func theCallerReleasesWithoutARunningLoop(_ condition: String) throws {
    let loop = try EventLoop()
    let request = try requests(on: loop).build(1)
    _ = try request.getBean(Transaction.self)
    if condition != "never run" {
      loop.stop()
      try loop.run()
    }
    if condition == "closed" { try loop.close() }
    try request.shutdown()
    #expect(journal.entries == ["transaction elsewhere", "log elsewhere"])
    try loop.close()
    #expect(journal.entries.count == 2)
  }

  @Test(arguments: ["stopped", "closed"])
  func anAsynchronousShutdownReleasesWithoutARunningLoop(_ condition: String) throws {
    let loop = try EventLoop()
    let request = try requests(on: loop).build(1)
    _ = try request.getBean(Transaction.self)
    loop.stop()
    try loop.run()
    if condition == "closed" { try loop.close() }
    // A task on another loop: blocked tests may have taken every thread of the pool. The loop's own end would release in
    // any case, so it must not come before.
    let other = try EventLoopThread()
    Task(executorPreference: other.loop) { [journal, application] in
      do { try await application.shutdown() } catch { Issue.record(error) }
      journal.note("shutdown returns")
    }
    try waitUntil("the end of the shutdown") { journal.entries.last == "shutdown returns" }
    try other.stopAndJoin()
    #expect(journal.entries.prefix(2) == ["transaction elsewhere", "log elsewhere"])
    try loop.close()
    #expect(journal.entries.count == 3)
  }

  @Test func aLoopThatRunsLaterReleasesRequestsFinishedBefore() throws {
    let loop = try EventLoop()
    let request = try requests(on: loop).build(1)
    _ = try request.getBean(Transaction.self)
    request.finish()
    #expect(journal.entries == [])
    loop.stop()
    try loop.run()
    #expect(journal.entries == releasedOnTheLoop)
    try loop.close()
  }

  @Test func aSecondShutdownWaitsForTheFirstAlsoWithoutARunningLoop() throws {
    let loop = try EventLoop()
    let gate = Gate("a slow release")
    let isReleasing = Gate("the release")
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define(
        $0.bean(Log.self, factory: { Log() }).onDestroy { _ in
          isReleasing.open()
          try gate.wait()
          journal.note("log")
        })
    } scope: {
      RequestScope(loop: loop)
    }
    let request = try requests.build(1)
    _ = try request.getBean(Log.self)
    let first = BackgroundThread { try request.shutdown() }
    try isReleasing.wait()
    let isReturning = Gate("the second shutdown")
    let second = BackgroundThread {
      isReturning.open()
      try request.shutdown()
      journal.note("second shutdown returns")
    }
    try isReturning.wait()
    // Leaves a shutdown that does not wait enough time to be seen; one that waits passes with any time.
    for _ in 0..<1_000 where journal.entries.isEmpty { sched_yield() }
    gate.open()
    try first.value()
    try second.value()
    #expect(journal.entries == ["log", "second shutdown returns"])
    try loop.close()
  }

  // MARK: deadline

  @Test func theDeadlineFinishesTheRequest() throws {
    try withLoops { loops in
      let start = ContinuousClock.now
      let request = try requests(on: loops[0], deadline: .milliseconds(20)).build(1)
      _ = try request.getBean(Transaction.self)
      try request.waitForEnd()
      #expect(start.duration(to: .now) >= .milliseconds(20))
      #expect(journal.entries == releasedOnTheLoop)
      #expect(throws: EnvironmentError(.finished, "")) { try request.getBean(Log.self) }
    }
  }

  @Test func aRequestThatEndsTakesItsDeadlineBack() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0], deadline: .seconds(3_600)).build(1)
      #expect(loops[0].scheduledCount == 1)
      request.finish()
      try request.waitForEnd()
      #expect(loops[0].scheduledCount == 0)
    }
  }

  @Test func noDeadlineCostsNoTimer() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      #expect(loops[0].scheduledCount == 0)
      try request.shutdown()
    }
  }

  @Test func aParentThatEndsDuringTheOpeningLeavesNoTimer() throws {
    try withLoops { loops in
      let request = try requests(on: loops[0]).build(1)
      // The calls of the container, in this order, if the application ends just before `opened`.
      let scope = RequestScope(loop: loops[0], deadline: .seconds(3_600))
      scope.closed()
      scope.opened(request)
      #expect(loops[0].scheduledCount == 0)
      scope.finish()
      #expect(!request.isFinished)
      try request.shutdown()
    }
  }

  // MARK: failures

  @Test func shutdownThrowsErrorsOfReleasesOnTheLoop() throws {
    try withLoops { loops in
      let loop = loops[0]
      let journal = journal
      let requests = try application.childFactory("request", seed: Int.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in throw Boom(name: "cart") })
        try $0.define($0.bean(Log.self, factory: { (_: Cart) in Log() }).onDestroy { _ in journal.note("log") })
        try $0.define(
          $0.bean(Transaction.self, factory: { (_: Log) in Transaction() })
            .onDestroy { _ in throw Boom(name: "transaction") })
      } scope: {
        RequestScope(loop: loop)
      }
      let request = try requests.build(1)
      _ = try request.getBean(Transaction.self)
      let failure = try #require(request.failedShutdown())
      #expect(failure.code == .destructionFailed)
      let causes = failure.underlying.compactMap { ($0 as? EnvironmentError)?.underlying.first as? Boom }
      #expect(causes == [Boom(name: "transaction"), Boom(name: "cart")])
      #expect(journal.entries == ["log"])
      try request.shutdown()
    }
  }

  @Test func theApplicationsShutdownThrowsErrorsOfItsRequests() throws {
    try withLoops(2) { loops in
      let requests = try loops.enumerated().map { number, loop in
        try application.childFactory("request\(number)", seed: Int.self) {
          try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in throw Boom() })
        } scope: {
          RequestScope(loop: loop)
        }
      }
      for factory in requests { _ = try factory.build(1).getBean(Log.self) }
      let failure = try #require(application.failedShutdown())
      #expect(failure.code == .destructionFailed)
      #expect(failure.underlying.count == 2)
    }
  }

  // MARK: retention

  @Test func noBeanIsRetainedAfterTheEnd() throws {
    try withLoops { loops in
      let loop = loops[0]
      let requests = try requests(on: loop, deadline: .seconds(3_600))
      weak var environment: Environment?
      weak var log: Log?
      do {
        let request = try requests.build(1)
        environment = request
        log = try request.getBean(Log.self)
        request.finish()
        try request.waitForEnd()
      }
      // The closure that released, and the environment with it, is dropped by the loop after it has run.
      try loop.perform {}
      #expect(environment == nil)
      #expect(log == nil)
    }
  }
}
