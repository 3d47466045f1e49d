import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import TestSupport
import Testing

/// The choice of the session that is evicted at capacity, and the sessions that are never evicted.
@Suite(.timeLimit(.minutes(20)))
struct SessionCapacityTests {
  private static let never = Duration.seconds(3_600)
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  private func factory(
    on loop: EventLoop, idleTimeout: Duration = never, scope: Handed<SessionScope> = Handed()
  ) throws -> EnvironmentFactory<String> {
    try application.childFactory("session", seed: String.self) {
      try $0.define($0.bean(Cart.self, factory: { Cart() }))
    } scope: {
      let made = SessionScope(loop: loop, idleTimeout: idleTimeout)
      scope.value = made
      return made
    }
  }

  // MARK: which one

  enum Use: CaseIterable { case touch, lookup, scopedAccess, endOfARequest, inside, rotation }

  @Test(arguments: Use.allCases)
  func theLeastRecentlyUsedSessionIsEvicted(_ use: Use) throws {
    try withLoops { loops in
      let scope = Handed<SessionScope>()
      let factory = try factory(on: loops[0], scope: scope)
      let requests = try factory.childFactory("request", seed: Int.self)
      let sessions = Sessions(factory, capacity: 3)
      let first = try sessions.open("a", "")
      let scopeOfFirst = scope.value
      _ = try sessions.open("b", "")
      _ = try sessions.open("c", "")
      var left = "b"
      switch use {
      case .touch: scopeOfFirst?.touch()
      case .lookup: _ = try first.getBean(Cart.self)
      case .scopedAccess: try first.withBean(Cart.self) { _ in }
      case .endOfARequest: try requests.withChild(1, in: first) { _ throws in }
      case .inside: #expect(try sessions.withSession("a") { $0 === first } == true)
      case .rotation:
        // A new id does not count as a use: the session is evicted all the same.
        left = try sessions.rotate("a")
      }
      _ = try sessions.open("d", "")
      #expect(sessions.find(left) == nil)
      #expect(sessions.count == 3)
      for id in ["a", "b", "c", "d"] where id != left && !(id == "a" && use == .rotation) {
        #expect(sessions.find(id) != nil, "\(id)")
      }
      try application.shutdown()
    }
  }

  @Test func aFindIsAUseOfASessionWithoutAScope() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self), capacity: 2)
    let first = try sessions.open("a", "")
    let second = try sessions.open("b", "")
    #expect(sessions.find("a") === first)
    _ = try sessions.open("c", "")
    // Without a loop it is released before that returns.
    #expect(second.isFinished)
    #expect(sessions.find("a") === first)
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(open: 2, opened: 3, evicted: 1))
    try application.shutdown()
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(opened: 3, evicted: 1, ended: 2))
  }

  @Test func anAdoptedSessionMakesRoomForItself() throws {
    try withLoops { loops in
      let factory = try factory(on: loops[0])
      let sessions = Sessions(factory, capacity: 2)
      let ids = try (0..<3).map { _ in try sessions.add(try factory.build("")) }
      #expect(Set(ids).count == 3)
      #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
      #expect(sessions.find(ids[0]) == nil)
      #expect(sessions.find(ids[1]) != nil && sessions.find(ids[2]) != nil)
      // The limit of a single call evicts no session.
      let built = try factory.build("")
      #expect(!sessions.add(built, as: "x", limit: 2))
      #expect(sessions.count == 2)
      try application.shutdown()
    }
  }

  /// Compared with a list in the order of use.
  @Test(arguments: 0..<20)
  func theOrderOfEvictionIsThatOfUse(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let capacity = Int.random(in: 1...8, using: &random)
    let factory = try application.childFactory("session", seed: String.self)
    let sessions = Sessions(factory, capacity: capacity)
    let requests = try factory.childFactory("request", seed: Int.self)
    // Used longest ago first.
    var expected: [String] = []
    var live: [String: Environment] = [:]
    var inside: [String: [Environment]] = [:]
    func use(_ id: String) {
      expected.removeAll { $0 == id }
      expected.append(id)
    }
    for step in 0..<400 {
      let id = "\(Int.random(in: 0..<12, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let victim = expected.first { inside[$0]?.isEmpty ?? true }
        if live[id] == nil, expected.count == capacity {
          // A candidate that cannot be evicted is in use now.
          for busy in expected.prefix(while: { $0 != victim }) { use(busy) }
          guard let victim else {
            #expect(throws: EnvironmentError(.exhausted, "")) { try sessions.open(id, "") }
            continue
          }
          expected.removeAll { $0 == victim }
          live[victim] = nil
        }
        live[id] = try sessions.open(id, "")
        use(id)
      case 4: if sessions.find(id) != nil { use(id) }
      case 5, 6:
        let entered = try sessions.withSession(id) { try requests.build(step, in: $0) }
        #expect((entered != nil) == (live[id] != nil))
        if let entered {
          use(id)
          inside[id, default: []].append(entered)
        }
      case 7: inside[id]?.popLast()?.finish()
      case 8:
        if let session = live[id] {
          for request in inside.removeValue(forKey: id) ?? [] { request.finish() }
          if random.next() % 2 == 0 { try sessions.end(id) } else { session.finish() }
          live[id] = nil
          expected.removeAll { $0 == id }
        }
      default:
        if live[id] != nil {
          let other = try sessions.rotate(id)
          #expect(sessions.find(id) == nil)
          _ = try sessions.rotate(other)
          // Gone for this test, but not for the registry.
          inside.removeValue(forKey: id)?.forEach { $0.finish() }
          live.removeValue(forKey: id)?.finish()
          expected.removeAll { $0 == id }
        }
      }
      #expect(sessions.count == expected.count)
      for (id, session) in live { try #require(!session.isFinished, "\(id) in step \(step)") }
    }
    try application.shutdown()
    let counts = sessions.counts
    #expect(counts.opened == counts.evicted + counts.ended)
  }

  // MARK: calls inside a session

  enum Inside: CaseIterable { case body, suspendedBody, request, build }

  @Test(arguments: Inside.allCases)
  func aSessionInUseIsNotEvicted(_ inside: Inside) throws {
    try withLoops { loops in
      let (isInside, mayLeave) = (Gate("somebody being inside"), Gate("leave to go"))
      let (leave, leaver) = AsyncStream.makeStream(of: Void.self)
      let factory = try application.childFactory("session", seed: String.self) {
        try $0.define(
          $0.bean(
            Cart.self,
            factory: {
              isInside.open()
              try mayLeave.wait()
              return Cart()
            }))
      } scope: {
        SessionScope(loop: loops[0], idleTimeout: Self.never)
      }
      let requests = try factory.childFactory("request", seed: Int.self)
      let sessions = Sessions(factory, capacity: 1)
      let session = try sessions.open("a", "")
      let visitor = BackgroundThread {
        switch inside {
        case .body:
          try sessions.withSession("a") { _ in
            isInside.open()
            try mayLeave.wait()
          }
        case .suspendedBody:
          let done = Gate("the end of a task")
          let queue = QueueExecutor()
          Task(executorPreference: queue) {
            try await sessions.withSession("a") { _ in
              isInside.open()
              for await _ in leave {}
            }
            done.open()
          }
          try done.wait()
        case .request:
          try requests.withChild(1, in: session) { _ throws in
            isInside.open()
            try mayLeave.wait()
          }
        case .build: _ = try session.getBean(Cart.self)
        }
      }
      try isInside.wait()
      for _ in 0..<3 {
        let refused = try #require(throws: EnvironmentError.self) { try sessions.open("b", "") }
        #expect(refused.code == .exhausted)
        #expect(throws: EnvironmentError(.exhausted, "")) { try sessions.add(try factory.build("")) }
        #expect(sessions.find("a") === session)
      }
      #expect(sessions.statistics().inUse == 1)
      mayLeave.open()
      leaver.finish()
      try visitor.value()
      #expect(sessions.statistics().inUse == 0)
      _ = try sessions.open("b", "")
      #expect(session.isFinished)
      #expect(sessions.count == 1)
      try application.shutdown()
    }
  }

  /// The loop runs the work of leaving calls after several looks of the idle timer, and the timer after that.
  @Test func aSessionInUseDoesNotExpire() throws {
    try withLoops { loops in
      let idleTimeout = Duration.milliseconds(20)
      let told = Journal()
      let sessions = Sessions(try factory(on: loops[0], idleTimeout: idleTimeout)) { told.note("\($0)") }
      let mayLeave = Gate("several idle times")
      try sessions.withSession("a", opening: "") { session in
        loops[0].schedule(after: idleTimeout * 4) { mayLeave.open() }
        try mayLeave.wait()
        #expect(!session.isFinished)
        _ = try session.getBean(Cart.self)
      }
      try waitUntil("the session having expired") { told.entries.count == 2 }
      #expect(told.entries == ["opened(\"a\")", "expired(\"a\")"])
      #expect(sessions.find("a") == nil)
    }
  }

  @Test func anExplicitEndWaitsForCallsInsideTheSession() throws {
    try withLoops { loops in
      let told = Journal()
      let sessions = Sessions(try factory(on: loops[0])) { told.note("\($0)") }
      try sessions.withSession("a", opening: "") { session in
        try sessions.end("a")
        #expect(sessions.find("a") == nil)
        #expect(try sessions.withSession("a") { _ in } == nil)
        #expect(throws: EnvironmentError(.finished, "")) { try session.getBean(Cart.self) }
        // Does not wait for this thread.
        try session.shutdown()
        try loops[0].perform {}
        #expect(told.entries == ["opened(\"a\")"])
      }
      try waitUntil("the session having ended") { told.entries.last == "ended(\"a\")" }
      try application.shutdown()
    }
  }

  // MARK: room

  @Test func anEndingSessionTakesNoPlace() throws {
    try withLoops { loops in
      let sessions = Sessions(try factory(on: loops[0]), capacity: 2)
      let kept = try sessions.open("a", "")
      _ = try sessions.open("b", "")
      let gate = Gate("the blocked loop")
      try loops[0].block(by: gate)
      try sessions.end("b")
      #expect(sessions.count == 1)
      _ = try sessions.open("c", "")
      #expect(sessions.find("a") === kept)
      // Nor does one that ends without the registry, once its turn comes.
      kept.finish()
      let third = try sessions.open("d", "")
      #expect(SessionCounts(of: sessions.counts) == SessionCounts(open: 2, opened: 4))
      #expect(sessions.find("c") != nil)
      #expect(sessions.find("d") === third)
      gate.open()
      try application.shutdown()
      try waitUntil("all having ended") { SessionCounts(of: sessions.counts) == SessionCounts(opened: 4, ended: 4) }
    }
  }

  @Test(arguments: [0, -1])
  func aCapacityOfZeroRefusesAll(_ capacity: Int) throws {
    let factory = try application.childFactory("session", seed: String.self)
    let sessions = Sessions(factory, capacity: capacity)
    #expect(throws: EnvironmentError(.exhausted, "")) { try sessions.open("a", "") }
    #expect(!sessions.add(try factory.build(""), as: "a"))
    #expect(sessions.count == 0)
    try application.shutdown()
  }

  @Test func aFailedOpeningGivesItsPlaceBack() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self), capacity: 1)
    func fail() throws -> String { throw Boom() }
    for _ in 0..<3 { #expect(throws: Boom()) { try sessions.open("a", fail()) } }
    #expect(SessionCounts(of: sessions.counts) == SessionCounts())
    _ = try sessions.open("a", "")
    #expect(SessionCounts(of: sessions.counts) == SessionCounts(open: 1, opened: 1))
    try application.shutdown()
  }
}

/// The counts of sessions, without the other statistics.
private struct SessionCounts: Equatable {
  var open = 0
  var opened = 0
  var expired = 0
  var evicted = 0
  var ended = 0
}

extension SessionCounts {
  init(of statistics: ScopeStatistics) {
    self.init(
      open: statistics.open, opened: statistics.opened, expired: statistics.expired, evicted: statistics.evicted,
      ended: statistics.ended)
  }
}
