import Beans
import BeansSessions
import BeansTesting
import TestSupport
import Testing

/// Idle times by a clock, without a scope object and without an event loop.
@Suite(.timeLimit(.minutes(20)))
struct IdleLimitTests {
  private static let limit = Shop.limit

  @Test func aSessionEndsAfterTheLimit() async throws {
    let shop = try Shop()
    try shop.use("a")
    let session = try await #require(shop.sessions.withSession("a") { $0 })
    try await shop.clock.waitForSleepers()
    #expect(shop.clock.deadlines.map(\.offset) == [Self.limit])
    shop.clock.advance(by: Self.limit)
    await session.ended()
    #expect(shop.released.entries == ["a"])
    #expect(shop.events.all == [.opened("a"), .expired("a")])
    #expect(shop.sessions.find("a") == nil)
    #expect(SessionCounts(of: shop.sessions.counts) == SessionCounts(opened: 1, expired: 1))
    try await shop.application.shutdown()
  }

  @Test func aSessionThatItsFirstRequestHasKeptEndsAfterTheLimit() async throws {
    let (application, clock) = (try Environment(name: "application"), ManualClock())
    let factory = try application.childFactory("session", seed: SessionState.self) { _ in }
    let sessions = Sessions(factory, idleLimit: Self.limit, clock: clock)
    let session = try await sessions.withSession(cookie: nil) { session in
      try session.environment.getBean(SessionState.self).value("visits", default: 0).set(1)
      return session.environment
    }.value
    try await clock.waitForSleepers()
    #expect(clock.deadlines.map(\.offset) == [Self.limit])
    clock.advance(by: Self.limit)
    await session.ended()
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(opened: 1, expired: 1))
    try await application.shutdown()
  }

  /// One clock serves an environment, its registries, and the environments below.
  @Test(arguments: [false, true])
  func theClockOfTheEnvironmentIsThatOfTheIdleLimit(isNested: Bool) async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    let tenants = try application.childFactory("tenant", seed: Int.self)
    let factory =
      isNested
      ? try tenants.childFactory("session", seed: String.self)
      : try application.childFactory("session", seed: String.self)
    try application.useClock(clock)
    try application.startup()
    let tenant = try tenants.build(1)
    let sessions = Sessions(factory, in: isNested ? tenant : nil, idleLimit: Shop.limit)
    let session = try await sessions.withSession("a", opening: "a") { $0 }
    try await clock.waitForSleepers()
    clock.advance(by: Shop.limit)
    await session.ended()
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(opened: 1, expired: 1))
    try await application.shutdown()
  }

  @Test func oneTimerServesAllSessions() async throws {
    let shop = try Shop()
    for number in 0..<1_000 { try shop.use("\(number)") }
    try await shop.clock.waitForSleepers()
    #expect(shop.clock.sleeperCount == 1)
    shop.clock.advance(by: Self.limit)
    try await eventually("all have expired") { shop.events.expired.count == 1_000 }
    #expect(SessionCounts(of: shop.sessions.counts) == SessionCounts(opened: 1_000, expired: 1_000))
    try await shop.application.shutdown()
  }

  @Test func aUsePostponesTheEnd() async throws {
    let shop = try Shop()
    try shop.use("a")
    try shop.use("b")
    shop.clock.advance(by: Self.limit / 2)
    try shop.use("b")
    let session = try await #require(shop.sessions.withSession("b") { $0 })
    try await shop.advanceToNextCheck()
    // The sleep of the next check begins when those of the first one have ended.
    #expect(shop.events.expired == ["a"])
    #expect(shop.clock.deadlines.map(\.offset) == [Self.limit * 3 / 2])
    #expect(shop.sessions.statistics().longestIdle == Self.limit / 2)
    shop.clock.advanceToNextSleeper()
    await session.ended()
    #expect(shop.events.expired == ["a", "b"])
    try await shop.application.shutdown()
  }

  @Test func theIdleTimeBeginsWhenABodyHasEnded() async throws {
    let shop = try Shop()
    try await shop.sessions.withSession("a", opening: "a") { session in
      _ = try session.getBean(Cart.self)
      for _ in 0..<20 { try await shop.advanceToNextCheck() }
      #expect(shop.clock.now.offset > Self.limit * 3)
      #expect(!session.isFinished)
      shop.clock.advance(by: .seconds(1))
    }
    let left = shop.clock.now
    let session = try await #require(shop.sessions.withSession("a") { $0 })
    while shop.clock.now < left.advanced(by: Self.limit) {
      #expect(!session.isFinished)
      try await shop.clock.waitForSleepers()
      shop.clock.advanceToNextSleeper()
      if shop.clock.now < left.advanced(by: Self.limit) { try await shop.clock.waitForSleepers() }
    }
    #expect(shop.clock.now == left.advanced(by: Self.limit))
    await session.ended()
    #expect(shop.events.expired == ["a"])
    try await shop.application.shutdown()
  }

  enum Unseen: CaseIterable { case childAfterWithSession, childAfterFind, childOfAdded }

  /// The end of such a use is noticed within an eighth of the limit.
  @Test(arguments: Unseen.allCases)
  func aChildThatOutlivesTheCallKeepsTheSession(_ unseen: Unseen) async throws {
    let shop = try Shop()
    let session: Environment
    let child: Environment
    switch unseen {
    case .childAfterWithSession:
      (session, child) = try await shop.sessions.withSession("a", opening: "a") {
        ($0, try shop.requests.build(1, in: $0))
      }
    case .childAfterFind:
      try shop.use("a")
      session = try #require(shop.sessions.find("a"))
      child = try shop.requests.build(1, in: session)
    case .childOfAdded:
      session = try shop.factory.build("a")
      child = try shop.requests.build(1, in: session)
      #expect(shop.sessions.add(session, as: "a"))
    }
    for _ in 0..<20 { try await shop.advanceToNextCheck() }
    #expect(shop.clock.now.offset > Self.limit)
    #expect(!session.isFinished)
    shop.clock.advance(by: .seconds(1))
    child.finish()
    let left = shop.clock.now
    while !session.isFinished {
      try await shop.clock.waitForSleepers()
      let count = shop.events.all.count
      shop.clock.advanceToNextSleeper()
      try await eventually("the check") { shop.clock.sleeperCount > 0 || shop.events.all.count > count }
    }
    await session.ended()
    let idle = left.duration(to: shop.clock.now)
    #expect(idle >= Self.limit && idle <= Self.limit * 9 / 8, "\(idle)")
    #expect(shop.events.expired == ["a"])
    try await shop.application.shutdown()
  }

  @Test func theLeastRecentlyUsedSessionIsEvicted() async throws {
    let shop = try Shop(capacity: 2)
    // All of it at one time by the clock.
    try shop.use("a")
    try shop.use("b")
    try shop.use("a")
    try shop.use("c")
    #expect(shop.events.all == [.opened("a"), .opened("b"), .evicted("b"), .opened("c")])
    let last = try await #require(shop.sessions.withSession("c") { $0 })
    try await shop.clock.waitForSleepers()
    #expect(shop.clock.deadlines.map(\.offset) == [Self.limit])
    shop.clock.advance(by: Self.limit)
    await last.ended()
    try await eventually("both have expired") { shop.events.expired == ["a", "c"] }
    #expect(SessionCounts(of: shop.sessions.counts) == SessionCounts(opened: 3, expired: 2, evicted: 1))
    try await shop.application.shutdown()
  }

  @Test func aNewIdLeavesTheIdleTimeAsItIs() async throws {
    let shop = try Shop()
    try shop.use("a")
    let session = try await #require(shop.sessions.withSession("a") { $0 })
    shop.clock.advance(by: Self.limit / 2)
    let other = try await shop.sessions.rotate("a")
    #expect(shop.sessions.find("a") == nil)
    try await shop.clock.waitForSleepers()
    shop.clock.advance(by: Self.limit / 2)
    await session.ended()
    #expect(shop.events.all == [.opened("a"), .rotated(from: "a", to: other), .expired(other)])
    try await shop.application.shutdown()
  }

  @Test func theEndOfTheApplicationEndsAllSessions() async throws {
    let shop = try Shop()
    for id in ["a", "b", "c"] { try shop.use(id) }
    try await shop.sessions.end("b")
    #expect(shop.released.entries == ["b"])
    try await shop.application.shutdown()
    #expect(Set(shop.released.entries) == ["a", "b", "c"])
    #expect(SessionCounts(of: shop.sessions.counts) == SessionCounts(opened: 3, ended: 3))
    // The timer finds no session.
    try await shop.clock.waitForSleepers()
    shop.clock.advance(by: Self.limit * 2)
    #expect(throws: EnvironmentError.self) { try shop.use("d") }
    #expect(SessionCounts(of: shop.sessions.counts) == SessionCounts(opened: 3, ended: 3))
  }

  @Test func theTimerEndsWithTheRegistry() async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: Int.self)
    weak var released: Sessions<Int>?
    do {
      let sessions = Sessions(factory, idleLimit: Self.limit, clock: clock)
      released = sessions
      _ = try sessions.open("a", 1)
      try await clock.waitForSleepers()
    }
    #expect(released == nil)
    try await eventually("the timer has ended") { clock.sleeperCount == 0 }
    try await application.shutdown()
  }

  @Test func theUsualClockMeasuresTime() async throws {
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: Int.self)
    let sessions = Sessions(factory, idleLimit: .milliseconds(2))
    let session = try await sessions.withSession("a", opening: 1) { $0 }
    await session.ended()
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(opened: 1, expired: 1))
    try await application.shutdown()
  }

  /// Limits that overflow a sum of nanoseconds, or leave no time at all.
  @Test(arguments: [Duration.seconds(Int64.max), .zero, .seconds(-1)])
  func limitsAreClamped(_ limit: Duration) async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: Int.self)
    let sessions = Sessions(factory, capacity: 3, idleLimit: limit, clock: clock)
    for id in ["a", "b"] { try await sessions.withSession(id, opening: 1) { _ in } }
    try await clock.waitForSleepers()
    #expect(try #require(clock.deadlines.first).offset >= .milliseconds(1))
    #expect(sessions.count == 2)
    try await application.shutdown()
  }
}
