import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct SessionsOnLoopsTests {
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  private func registry(on loop: EventLoop, idleTimeout: Duration = .seconds(3_600)) throws -> Sessions<String> {
    Sessions(
      try application.childFactory("session", seed: String.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }))
      } scope: {
        SessionScope(loop: loop, idleTimeout: idleTimeout)
      })
  }

  @Test func theRegistryReturnsAnOpenSessionAndBuildsNoSeedForIt() throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0])
      let seeds = Tally()
      func seed() -> String {
        seeds.count("made")
        return "seed"
      }
      #expect(sessions.find("a") == nil)
      let session = try sessions.open("a", seed())
      #expect(try session.getBean(String.self) == "seed")
      #expect(try sessions.open("a", seed()) === session)
      #expect(sessions.find("a") === session)
      #expect(sessions.find("b") == nil)
      #expect(seeds["made"] == 1)
      #expect(sessions.count == 1)
      try application.shutdown()
    }
  }

  @Test func theRegistryAdoptsSessionsUpToALimit() throws {
    try withLoops { loops in
      let factory = try application.childFactory(
        "session", seed: String.self, scope: { SessionScope(loop: loops[0], idleTimeout: .seconds(3_600)) })
      let sessions = Sessions(factory)
      let built = try (0..<3).map { try factory.build("\($0)") }
      #expect(sessions.add(built[0], as: "a", limit: 2))
      #expect(!sessions.add(built[1], as: "a", limit: 2))
      #expect(sessions.add(built[1], as: "b", limit: 2))
      #expect(!sessions.add(built[2], as: "c", limit: 2))
      #expect(sessions.find("a") === built[0])
      #expect(sessions.find("c") == nil)
      try sessions.end("a")
      try waitUntil("the session having left") { sessions.count == 1 }
      #expect(sessions.add(built[2], as: "c", limit: 2))
      #expect(sessions.find("c") === built[2])
      try application.shutdown()
      try waitUntil("all having left") { sessions.count == 0 }
    }
  }

  /// Counts visits in its own state.
  private actor Visits {
    private var count = 0

    func visit(_ id: String, in sessions: Sessions<String>) async throws -> Int {
      try await sessions.withSession(id, opening: "seed") { _ in
        await Task.yield()
        count += 1
      }
      return try await sessions.withSession(id) { session in
        await Task.yield()
        count += try session.getBean(String.self) == "seed" ? 1 : 0
        return count
      } ?? 0
    }
  }

  @Test("the body of an asynchronous withSession runs on the caller's actor, and uses its state")
  func bodiesOfActors() async throws {
    try await EventLoop.withThread { loop in
      let sessions = try registry(on: loop)
      let visits = Visits()
      #expect(try await visits.visit("a", in: sessions) == 2)
      #expect(try await visits.visit("a", in: sessions) == 4)
      try await application.shutdown()
    }
  }

  @Test func threadsThatOpenOneIdGetOneSession() throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0])
      for round in 0..<100 {
        let opened = Journal()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
          do {
            let session = try sessions.open("\(round)", "seed")
            _ = try session.getBean(Cart.self)
            opened.note("\(ObjectIdentifier(session))")
          } catch {
            Issue.record(error)
          }
        }
        #expect(opened.entries.count == 4)
        #expect(Set(opened.entries).count == 1)
      }
      #expect(sessions.count == 100)
      // Sessions that lost the race have been finished.
      try waitUntil("only sessions of the registry being open") {
        application.statistics().contains { $0.scope == "session" && $0.opened - $0.finished == 100 }
      }
      try application.shutdown()
      try waitUntil("an empty registry") { sessions.count == 0 }
    }
  }

  enum End: CaseIterable { case registry, environment, idle, application }

  @Test(arguments: End.allCases)
  func aSessionLeavesTheRegistryByAnyEnd(_ end: End) throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0], idleTimeout: end == .idle ? .milliseconds(10) : .seconds(3_600))
      let session = try sessions.open("a", "seed")
      switch end {
      case .registry: try sessions.end("a")
      case .environment: session.finish()
      case .idle: break
      case .application: application.finish()
      }
      try session.waitForEnd()
      #expect(sessions.find("a") == nil)
      try waitUntil("an empty registry") { sessions.count == 0 }
      try sessions.end("a")
    }
  }

  @Test func aNewSessionFollowsOneThatHasExpired() throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0], idleTimeout: .milliseconds(10))
      let first = try sessions.open("a", "first")
      try first.waitForEnd()
      let second = try sessions.open("a", "second")
      #expect(second !== first)
      try second.waitForEnd()
      try waitUntil("an empty registry") { sessions.count == 0 }
    }
  }

  @Test func aNewSessionStaysWhenTheOneBeforeItHasEnded() throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0])
      let gate = Gate("the blocked loop")
      let first = try sessions.open("a", "first")
      try loops[0].block(by: gate)
      first.finish()
      // Ending, but its loop has not come to it.
      #expect(sessions.find("a") == nil)
      let second = try sessions.open("a", "second")
      #expect(second !== first)
      gate.open()
      try first.waitForEnd()
      try loops[0].perform {}
      #expect(sessions.find("a") === second)
      #expect(sessions.count == 1)
      try application.shutdown()
    }
  }

  @Test func aSessionThatCannotBeOpenedLeavesNoTrace() throws {
    try withLoops { loops in
      let sessions = try registry(on: loops[0])
      try application.shutdown()
      #expect(throws: EnvironmentError(.finished, "")) { try sessions.open("a", "seed") }
      #expect(sessions.count == 0)
    }
  }

  @Test func theRegistryMayGoBeforeItsSessions() throws {
    try withLoops { loops in
      weak var gone: Sessions<String>?
      let session: Environment
      do {
        let sessions = try registry(on: loops[0])
        gone = sessions
        session = try sessions.open("a", "seed")
      }
      #expect(gone == nil)
      try session.shutdown()
    }
  }
}
