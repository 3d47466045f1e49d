import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import TestSupport
import Testing

/// The events of a registry's sessions, and the ids in them.
@Suite(.timeLimit(.minutes(20)))
struct SessionEventTests {
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  private func factory(
    on loop: EventLoop, idleTimeout: Duration = .seconds(3_600), deadline: Duration? = nil, _ journal: Journal? = nil
  ) throws -> EnvironmentFactory<String> {
    try application.childFactory("session", seed: String.self) {
      try $0.define(
        $0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in journal?.note("released\(loop.place)") })
    } scope: {
      LoopScope(name: "session", loop: loop, deadline: deadline, idleTimeout: idleTimeout)
    }
  }

  // MARK: events

  enum End: CaseIterable { case registry, environment, idle, deadline, eviction, application }

  @Test(arguments: End.allCases)
  func eachSessionEndsOnceInOneWayAfterTheReleaseOfItsBeans(_ end: End) throws {
    try withLoops { loops in
      let journal = Journal()
      let short = Duration.milliseconds(10)
      let sessions = Sessions(
        try factory(
          on: loops[0], idleTimeout: end == .idle ? short : .seconds(3_600), deadline: end == .deadline ? short : nil,
          journal),
        capacity: 1
      ) { journal.note("\($0)\(loops[0].place)") }
      let session = try loops[0].perform {
        let session = try sessions.open("a", "")
        _ = try session.getBean(Cart.self)
        return session
      }
      switch end {
      case .registry: try sessions.end("a")
      case .environment: session.finish()
      case .idle, .deadline: break
      case .eviction: try loops[0].perform { _ = try sessions.open("b", "") }
      case .application: application.finish()
      }
      try session.waitForEnd()
      try waitUntil("the end being told") { journal.entries.count >= (end == .eviction ? 4 : 3) }
      // All events of the first session come before any other may end.
      let name =
        switch end {
        case .idle, .deadline: "expired"
        case .eviction: "evicted"
        case .registry, .environment, .application: "ended"
        }
      let told = journal.entries.filter { !$0.hasPrefix("opened(\"b\")") }
      #expect(told == ["opened(\"a\") on the loop", "released on the loop", "\(name)(\"a\") on the loop"])
      let counts = sessions.counts
      #expect(counts.expired == (name == "expired" ? 1 : 0))
      #expect(counts.evicted == (name == "evicted" ? 1 : 0))
      #expect(counts.ended == (name == "ended" ? 1 : 0))
      try application.shutdown()
    }
  }

  @Test func theOpeningOfASessionIsPublishedBeforeItCanBeFound() throws {
    let registry = Handed<Sessions<String>>()
    let journal = Journal()
    let sessions = Sessions(try application.childFactory("session", seed: String.self), capacity: 5) { event in
      guard case .opened(let id) = event, let registry = registry.value else { return }
      // The registry may be called: no lock is held.
      journal.note("\(registry.count) \(registry.find(id) == nil)")
      let error = #expect(throws: EnvironmentError.self) { try registry.open(id, "") }
      journal.note("\(error?.code.description ?? "")")
    }
    registry.value = sessions
    _ = try sessions.open("a", "")
    #expect(journal.entries == ["0 true", "cyclicDependency"])
    registry.value = nil
    try application.shutdown()
  }

  @Test func aFailedOpeningIsNotPublished() throws {
    let journal = Journal()
    let sessions = Sessions(try application.childFactory("session", seed: String.self)) { journal.note("\($0)") }
    func fail() throws -> String { throw Boom() }
    #expect(throws: Boom()) { try sessions.open("a", fail()) }
    try application.shutdown()
    #expect(throws: EnvironmentError(.finished, "")) { try sessions.open("a", "") }
    #expect(journal.entries.isEmpty)
  }

  // MARK: rotation

  @Test func aRotatedSessionKeepsItsEnvironmentUnderANewId() throws {
    try withLoops { loops in
      let journal = Journal()
      let sessions = Sessions(try factory(on: loops[0], journal)) { journal.note("\($0)") }
      let session = try sessions.open("a", "seed")
      let cart = try session.getBean(Cart.self)
      let id = try sessions.rotate("a")
      #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil)
      #expect(sessions.find("a") == nil)
      #expect(sessions.find(id) === session)
      #expect(try session.getBean(Cart.self) === cart)
      #expect(try session.getBean(String.self) == "seed")
      #expect(sessions.counts.rotated == 1)
      // The old id is free for another session.
      #expect(try sessions.open("a", "") !== session)
      try sessions.end(id)
      try session.waitForEnd()
      try waitUntil("the end being told") { journal.entries.count == 5 }
      #expect(
        journal.entries == [
          "opened(\"a\")", "rotated(from: \"a\", to: \"\(id)\")", "opened(\"a\")", "released on the loop",
          "ended(\"\(id)\")",
        ])
      try application.shutdown()
    }
  }

  @Test func theIdleTimeGoesOnAcrossARotation() throws {
    try withLoops { loops in
      let told = Journal()
      let sessions = Sessions(try factory(on: loops[0], idleTimeout: .milliseconds(20))) { told.note("\($0)") }
      let id = try loops[0].perform {
        _ = try sessions.open("a", "")
        return try sessions.rotate("a")
      }
      #expect(loops[0].scheduledCount <= 1)
      try waitUntil("the session having expired") { told.entries.last == "expired(\"\(id)\")" }
    }
  }

  @Test func anUnknownIdCannotBeRotated() throws {
    try withLoops { loops in
      let sessions = Sessions(try factory(on: loops[0]))
      let unknown = try #require(throws: EnvironmentError.self) { try sessions.rotate("secret") }
      #expect(unknown.code == .finished)
      #expect(!"\(unknown)".contains("secret"))
      let session = try sessions.open("secret", "")
      let gate = Gate("the blocked loop")
      try loops[0].block(by: gate)
      session.finish()
      #expect(throws: EnvironmentError(.finished, "")) { try sessions.rotate("secret") }
      gate.open()
      try application.shutdown()
      #expect(sessions.counts.rotated == 0)
    }
  }

  @Test func idsAreOfManyKinds() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self))
    let ids = (0..<2_000).map { _ in sessions.newId() }
    #expect(Set(ids).count == ids.count)
    // Each of the 32 places takes every digit, so no bits are constant.
    for place in 0..<32 { #expect(Set(ids.map { Array($0.utf8)[place] }).count == 16) }
  }

  // MARK: reports

  @Test func theReportHasTheAgesAndIdleTimesOfSessions() throws {
    try withLoops { loops in
      let sessions = Sessions(try factory(on: loops[0]), capacity: 9)
      #expect(sessions.statistics().oldestAge == nil)
      #expect(sessions.statistics().longestIdle == nil)
      let empty = "sessions: 0 open of at most 9, 0 in use; opened 0, expired 0, evicted 0, ended 0, rotated 0\n"
      #expect(sessions.report() == empty)
      let begun = ContinuousClock.now
      let first = try sessions.open("a", "")
      let opened = ContinuousClock.now
      _ = try sessions.open("b", "")
      // Some time later the first one is used.
      let (isUsed, use) = (Gate("the use"), Handed<ContinuousClock.Instant>())
      loops[0].schedule(after: .milliseconds(20)) {
        use.value = .now
        do { _ = try first.getBean(Cart.self) } catch { Issue.record(error) }
        isUsed.open()
      }
      try isUsed.wait()
      let statistics = sessions.statistics()
      let now = ContinuousClock.now
      let age = try #require(statistics.oldestAge)
      #expect(age >= .milliseconds(20) && age <= begun.duration(to: now))
      // That of the second one: the first has been used since.
      let idle = try #require(statistics.longestIdle)
      #expect(idle >= .milliseconds(20) && idle <= opened.duration(to: now))
      #expect(statistics.open == 2 && statistics.capacity == 9 && statistics.inUse == 0)
      try sessions.withSession("b") { _ throws in
        let statistics = sessions.statistics()
        #expect(statistics.inUse == 1)
        // The time of the first session: a call is inside the second one.
        #expect(try #require(statistics.longestIdle) <= #require(use.value).duration(to: .now))
        #expect(sessions.report().hasPrefix("sessions: 2 open of at most 9, 1 in use; opened 2, "))
        #expect(sessions.report().contains(/; the oldest is \d+\.\d s old; the longest idle time is \d+\.\d s\n$/))
      }
      try application.shutdown()
    }
  }

  @Test func statisticsCountAllOfManySessions() throws {
    let factory = try application.childFactory("session", seed: String.self)
    let sessions = Sessions(factory)
    for number in 0..<5_000 { _ = try sessions.open("\(number)", "") }
    for number in stride(from: 0, to: 5_000, by: 5) { try sessions.end("\(number)") }
    #expect(sessions.statistics().open == 4_000)
    let entered = Journal()
    let requests = try (1..<5).map { number in try sessions.withSession("\(number * 1_000 + 1)") { session in session }
    }
    #expect(requests.allSatisfy { $0 != nil })
    func enter(_ rest: ArraySlice<Int>) {
      guard let number = rest.first else {
        entered.note("\(sessions.statistics().inUse)")
        return
      }
      _ = try? sessions.withSession("\(number)") { _ in enter(rest.dropFirst()) }
    }
    enter([1, 1_001, 2_001, 3_001, 4_999])
    #expect(entered.entries == ["5"])
    try application.shutdown()
    #expect(sessions.counts.ended == 5_000)
  }
}
