import Beans
import BeansEventLoop
import BeansServer
import Testing

@Suite(.timeLimit(.minutes(20)))
struct SessionScopeTests {
  private let journal = Journal()
  private let application: Environment
  private static let never = Duration.seconds(3_600)
  private static let idleTimeout = Duration.milliseconds(60)

  init() throws { application = try Environment(name: "application") }

  private func sessions(
    on loop: EventLoop, idleTimeout: Duration = never, scope: Handed<SessionScope> = Handed()
  ) throws -> EnvironmentFactory<String> {
    let journal = journal
    return try application.childFactory("session", seed: String.self) {
      try $0.define($0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in journal.note("cart\(loop.place)") })
    } scope: {
      let made = SessionScope(loop: loop, idleTimeout: idleTimeout)
      scope.value = made
      return made
    }
  }

  private func requests(in sessions: EnvironmentFactory<String>, on loop: EventLoop) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try sessions.childFactory("request", seed: Int.self) {
      try $0.define(
        $0.bean(Log.self, factory: { (_: Cart) in Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
    } scope: {
      RequestScope(loop: loop)
    }
  }

  // MARK: idle

  @Test func anIdleSessionEndsOnItsLoop() throws {
    try withLoops { loops in
      let start = ContinuousClock.now
      let session = try sessions(on: loops[0], idleTimeout: .milliseconds(20)).build("a")
      _ = try session.getBean(Cart.self)
      try session.waitForEnd()
      #expect(start.duration(to: .now) >= .milliseconds(20))
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  enum Use: CaseIterable { case touch, lookup, scopedAccess, endOfARequest }

  /// The loop runs both the use and the idle timer, in the order of their times: however late it is, the use comes first.
  @Test(arguments: Use.allCases)
  func aUseBeginsTheIdleTimeAnew(_ use: Use) throws {
    try withLoops { loops in
      let loop = loops[0]
      let scope = Handed<SessionScope>()
      let sessions = try sessions(on: loop, idleTimeout: Self.idleTimeout, scope: scope)
      let requests = try requests(in: sessions, on: loop)
      let lastUse = Handed<ContinuousClock.Instant>()
      let session = try loop.perform {
        let session = Handed<Environment>()
        loop.schedule(after: Self.idleTimeout / 2) {
          guard let session = session.value, let scope = scope.value else { return }
          lastUse.value = .now
          do {
            switch use {
            case .touch: scope.touch()
            case .lookup: _ = try session.getBean(Cart.self)
            case .scopedAccess: try session.withBean(Cart.self) { _ in }
            case .endOfARequest: try requests.withChild(1, in: session) { _ in }
            }
          } catch {
            Issue.record(error)
          }
        }
        let opened = try sessions.build("a")
        session.value = opened
        return opened
      }
      try session.waitForEnd()
      let end = ContinuousClock.now
      let used = try #require(lastUse.value)
      #expect(used.duration(to: end) >= Self.idleTimeout)
    }
  }

  @Test func aLiveRequestKeepsItsSessionAlive() throws {
    try withLoops(2) { loops in
      let sessions = try sessions(on: loops[0], idleTimeout: Self.idleTimeout)
      let requests = try requests(in: sessions, on: loops[1])
      // On the session's loop, so that its timer cannot come between the two.
      let (session, request) = try loops[0].perform {
        let session = try sessions.build("a")
        return (session, try requests.build(1, in: session))
      }
      let ended = Handed<ContinuousClock.Instant>()
      // After several looks of the idle timer, on the same loop.
      loops[0].schedule(after: Self.idleTimeout * 4) {
        #expect(!session.isFinished)
        #expect(!request.isFinished)
        ended.value = .now
        request.finish()
      }
      try session.waitForEnd()
      #expect(try #require(ended.value).duration(to: .now) >= Self.idleTimeout)
    }
  }

  @Test func aTimeoutOfZeroEndsASession() throws {
    try withLoops(2) { loops in
      // Timers that fire while their session is still being opened.
      let sessions = try sessions(on: loops[0], idleTimeout: .zero)
      for number in 0..<500 { try sessions.build("\(number)").waitForEnd() }
      #expect(application.statistics().first { $0.scope == "session" }?.finished == 500)
    }
  }

  @Test func aSessionHasOneTimerForAnyNumberOfUses() throws {
    try withLoops { loops in
      let scope = Handed<SessionScope>()
      let session = try sessions(on: loops[0], scope: scope).build("a")
      for _ in 0..<100 {
        scope.value?.touch()
        _ = try session.getBean(Cart.self)
      }
      #expect(loops[0].scheduledCount == 1)
      session.finish()
      try session.waitForEnd()
      #expect(loops[0].scheduledCount == 0)
    }
  }

  // MARK: requests

  enum Finisher: CaseIterable { case outside, loopOfTheSession, loopOfTheRequests }

  @Test(arguments: Finisher.allCases)
  func requestsOnAnotherLoopEndBeforeTheirSession(_ finisher: Finisher) throws {
    try withLoops(2) { loops in
      let sessions = try sessions(on: loops[0])
      let requests = try requests(in: sessions, on: loops[1])
      let session = try sessions.build("a")
      for number in 0..<3 { _ = try requests.build(number, in: session).getBean(Log.self) }
      switch finisher {
      case .outside: session.finish()
      case .loopOfTheSession: try loops[0].perform { session.finish() }
      case .loopOfTheRequests: try loops[1].perform { session.finish() }
      }
      try session.waitForEnd()
      #expect(journal.entries == Array(repeating: "log on the loop", count: 3) + ["cart on the loop"])
    }
  }

  /// A possible wait ends when everything is released: the loop of the requests is free.
  @Test(arguments: Finisher.allCases)
  func shutdownWaitsForTheRequestsOnTheOtherLoop(_ finisher: Finisher) throws {
    try withLoops(2) { loops in
      let sessions = try sessions(on: loops[0])
      let requests = try requests(in: sessions, on: loops[1])
      let session = try sessions.build("a")
      for number in 0..<3 { _ = try requests.build(number, in: session).getBean(Log.self) }
      let journal = journal
      let shutDown: @Sendable () throws -> [String] = {
        try session.shutdown()
        return journal.entries
      }
      let seen =
        switch finisher {
        case .outside: try shutDown()
        case .loopOfTheSession: try loops[0].perform(shutDown)
        case .loopOfTheRequests: try loops[1].perform(shutDown)
        }
      #expect(seen == Array(repeating: "log on the loop", count: 3) + ["cart on the loop"])
      try session.waitForEnd()
    }
  }

  /// The last request leaves the session while the session's loop begins to wait for it.
  @Test func shutdownOnTheLoopWaitsForARequestThatIsJustEnding() throws {
    try withLoops(2) { loops in
      let sessions = try sessions(on: loops[0])
      let requests = try requests(in: sessions, on: loops[1])
      try application.startup()
      let early = try loops[0].perform {
        var early = 0
        for number in 0..<5_000 {
          let session = try sessions.build("a")
          let request = try requests.build(number, in: session)
          _ = try request.getBean(Log.self)
          loops[1].execute { request.finish() }
          let released = Handed<Bool>()
          session.whenFinished { released.value = true }
          try session.shutdown()
          if released.value != true { early += 1 }
        }
        return early
      }
      #expect(early == 0)
    }
  }

  @Test func aRequestInAnEndedSessionIsRefused() throws {
    try withLoops(2) { loops in
      let sessions = try sessions(on: loops[0])
      let requests = try requests(in: sessions, on: loops[1])
      let session = try sessions.build("a")
      session.finish()
      #expect(throws: EnvironmentError(.finished, "")) { try requests.build(1, in: session) }
      try session.waitForEnd()
      #expect(throws: EnvironmentError(.finished, "")) { try requests.build(1, in: session) }
    }
  }

  // MARK: the end

  @Test func theScopeObjectFinishesItsEnvironment() throws {
    try withLoops { loops in
      let scope = Handed<SessionScope>()
      let session = try sessions(on: loops[0], scope: scope).build("a")
      _ = try session.getBean(Cart.self)
      scope.value?.finish()
      #expect(session.isFinished)
      try session.waitForEnd()
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  @Test func theApplicationEndsSessionsThatAreIdle() throws {
    try withLoops { loops in
      let sessions = try sessions(on: loops[0])
      for name in ["a", "b"] { _ = try sessions.build(name).getBean(Cart.self) }
      try application.shutdown()
      #expect(journal.entries == ["cart on the loop", "cart on the loop"])
      #expect(loops[0].scheduledCount == 0)
    }
  }

  @Test func noBeanIsRetainedAfterTheEnd() throws {
    try withLoops(2) { loops in
      let scope = Handed<SessionScope>()
      let sessions = try sessions(on: loops[0], scope: scope)
      let requests = try requests(in: sessions, on: loops[1])
      weak var environment: Environment?
      weak var request: Environment?
      weak var scopeObject: SessionScope?
      do {
        let session = try sessions.build("a")
        environment = session
        request = try requests.build(1, in: session)
        scopeObject = scope.value
        scope.value = nil
        session.finish()
        try session.waitForEnd()
      }
      // The closures that released, and the environments with them, are dropped by the loops after they have run.
      for loop in loops { try loop.perform {} }
      #expect(request == nil)
      #expect(environment == nil)
      #expect(scopeObject == nil)
    }
  }
}
